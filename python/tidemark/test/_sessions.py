"""What a test evaluates: at once where ops run at once, in the test's session in graphs."""

from __future__ import annotations

import contextlib
import functools
import sys

import numpy as np

import tidemark
from tidemark import _tidemark, nest
from tidemark._graph.func_graph import inside_function
from tidemark._graph.scopes import executing_eagerly


def _composites():
    from tidemark._v1 import composites  # only tests of such tensors need it

    return composites


def _has_parts(value):
    return isinstance(value, (tidemark.RaggedTensor, tidemark.SparseTensor, tidemark.IndexedSlices))


def is_symbolic(value):
    """Whether it is of a graph, so that a session must give its value."""
    if _has_parts(value):
        return any(is_symbolic(part) for part in _composites().parts_of(value))
    if isinstance(value, _tidemark.Tensor):
        return _tidemark.is_symbolic(value)
    return isinstance(value, tidemark.compat.v1.Variable) and not executing_eagerly()


def reset_default_graph():
    """A test starts with an empty default graph, where it is not inside of another one."""
    of_sessions = sys.modules.get("tidemark._v1.graph")  # where it is not loaded, there is none
    if of_sessions is not None and executing_eagerly():
        of_sessions.reset_default_graph()


def _at_once(value):
    if value is None:
        return None
    if _has_parts(value):
        composites = _composites()
        parts = [None if p is None else p.numpy() for p in composites.parts_of(value)]
        return composites.value_of(value, parts)
    if hasattr(value, "numpy"):
        return value.numpy()
    if callable(value):
        return evaluate_at_once(value())
    raise ValueError(f"Unsupported type {type(value).__name__!r}: only tensors have a value")


def evaluate_at_once(tensors):
    """The values of a structure of tensors that ran at once."""
    return None if tensors is None else nest.map_structure(_at_once, tensors)


def array(value):
    """An array of whatever it is; ragged values as lists, sparse ones by their parts."""
    if is_symbolic(value):
        value = _in_session(value)
    if hasattr(value, "dense_shape"):
        return tuple(array(part) for part in (value.indices, value.values, value.dense_shape))
    if hasattr(value, "to_list") and hasattr(value, "row_splits"):
        return value.to_list()
    if hasattr(value, "numpy"):
        value = value.numpy()
    try:
        return np.asarray(value)
    except ValueError:  # rows of different lengths
        return value


def _in_session(value):
    session = tidemark.compat.v1.get_default_session()
    if session is not None:
        return session.run(value)
    with tidemark.compat.v1.Session() as opened:
        return opened.run(value)


def later_in_functions(assertion):
    """The assertion about values: a function's own are checked whenever it runs."""

    @functools.wraps(assertion)
    def asserted(self, a, *args, **kwargs):
        if not tidemark.inside_function():
            return assertion(self, a, *args, **kwargs)
        given = [a, *args]
        places = [i for i, v in enumerate(given) if isinstance(v, _tidemark.Tensor)]

        def check(*values):
            for place, value in zip(places, values, strict=True):
                given[place] = value
            assertion(self, *given, **kwargs)

        return tidemark.py_function(check, [given[i] for i in places], [])

    return asserted


class EagerSession:
    """Stands for a session where ops run at once, so that tests are written once."""

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """The values of tensors; nothing can be fed to what has run."""
        if feed_dict:
            raise ValueError("nothing can be fed where ops run at once; pass it as an argument")
        return evaluate_at_once(fetches)


class SessionCase:
    """The part of a test case that has a session."""

    _cached = None  # the session of this test's graph, from its first use to the test's end

    def evaluate(self, tensors):
        """The values of a structure of tensors, in a session where they are of a graph."""
        if executing_eagerly():
            return evaluate_at_once(tensors)
        session = tidemark.compat.v1.get_default_session()
        if session is None:
            with self.cached_session() as session:
                found = session.run(nest.flatten(tensors))
        else:
            found = session.run(nest.flatten(tensors))
        return nest.pack_sequence_as(tensors, found)

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """A session of its own; where ops run at once nothing is needed, and None is given."""
        if graph is None and (executing_eagerly() or inside_function()):
            yield None
            return
        with tidemark.compat.v1.Session(graph=graph, config=config) as opened:
            yield opened

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """The session of this test: the same one in each block of it."""
        if graph is None and (executing_eagerly() or inside_function()):
            yield EagerSession()
            return
        graph = graph or tidemark.compat.v1.get_default_graph()
        if self._cached is None or self._cached.graph is not graph:
            self._close_cached_session()
            self._cached = tidemark.compat.v1.Session(graph=graph, config=config)
        with graph.as_default(), self._cached.as_default():
            yield self._cached

    def _close_cached_session(self):
        if self._cached is not None:
            self._cached.close()
            self._cached = None

    def test_session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """An older name of both, which unittest takes for a test."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        kind = self.cached_session if graph is None else self.session
        return kind(graph, config, use_gpu, force_gpu)
