"""Scopes and switches that matter in graphs and are kept, without effect, where ops run at once."""

from __future__ import annotations

import contextlib
import sys
import threading

from tidemark import _tidemark

_state = threading.local()


def executing_eagerly():
    """Whether ops compute when they are called."""
    return not _tidemark.is_tracing()


def _names():
    if not hasattr(_state, "names"):
        _state.names = []
    return _state.names


def creators():
    """The functions of the variable creator scopes around this place, outermost first."""
    return getattr(_state, "creators", ())


@contextlib.contextmanager
def variable_creator_scope(variable_creator):
    """A context in which ``variable_creator(next_creator, **kwargs)`` makes the variables."""
    outer = creators()
    _state.creators = (*outer, variable_creator)
    try:
        yield
    finally:
        _state.creators = outer


class name_scope:
    """A context whose name stands before the names of ops made inside it."""

    def __init__(self, name):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name

    name = property(lambda self: self._name)

    def __enter__(self):
        names = _names()
        if not self._name:  # back to the root
            full = ""
        elif self._name.endswith("/"):  # exactly this scope
            full = self._name[:-1]
        else:
            outer = names[-1] if names else ""
            full = f"{outer}/{self._name}" if outer else self._name
            if unique_scope is not None:
                full = unique_scope(full)
        names.append(full)
        _tidemark.set_name_scope(full)
        return full + "/" if full else ""

    def __exit__(self, *error):
        names = _names()
        names.pop()
        _tidemark.set_name_scope(names[-1] if names else "")
        return False


unique_scope = None  # gives a scope of a session's graph a name of its own; set beside such graphs


def exchange_names(names):
    """Makes another list of scopes this thread's, innermost last; returns the one before."""
    outer, _state.names = _names(), names
    _tidemark.set_name_scope(names[-1] if names else "")
    return outer


def get_current_name_scope():
    """The full name of the innermost scope; empty outside of all."""
    names = _names()
    return names[-1] if names else ""


def get_logger():
    """The logger of the package."""
    import logging  # a seventh of the whole import, and most programs never warn

    return logging.getLogger("tidemark")


@contextlib.contextmanager
def eager_mode():
    """A context outside of all graphs: ops run when they are called."""
    scope = _tidemark.EagerScope()
    scope.enter()
    try:
        yield
    finally:
        scope.exit()


@contextlib.contextmanager
def init_scope():
    """A context outside of all functions being traced: in the graph of sessions that they are
    called in, or where ops run when they are called."""
    sessions = sys.modules.get("tidemark._v1.graph") if _tidemark.is_tracing() else None
    graph = None if sessions is None else sessions.graph_of_sessions()
    if graph is None:
        with eager_mode():
            yield
    elif sessions.is_building():
        with sessions.dependencies(None):
            yield
    else:
        with eager_mode(), graph.as_default():
            yield


def is_building_for_sessions():
    """Whether this thread builds a graph that sessions run."""
    graph = sys.modules.get("tidemark._v1.graph") if _tidemark.is_tracing() else None
    return graph is not None and graph.is_building()


@contextlib.contextmanager
def control_dependencies(control_inputs):
    """A context whose ops run after the given ones. Only sessions could do otherwise."""
    if _tidemark.is_tracing():
        from tidemark._v1 import graph  # it imports this module

        if graph.is_building():
            with graph.dependencies(control_inputs):
                yield
            return
        for item in control_inputs or ():
            if graph.is_element(item):  # one of an outer graph runs before this one is begun
                _tidemark.wait_for(graph.node_behind(item))
    for item in control_inputs or ():
        if callable(item):
            item()
    yield
