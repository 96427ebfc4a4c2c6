"""``tf.CriticalSection``: code that one thread at a time runs, eagerly and in graphs."""

from __future__ import annotations

import itertools
import threading

from tidemark import _tidemark
from tidemark._graph.tracing import Structure, building, is_tracing, lifted, tensor_or_none
from tidemark.tensor_shape import sizes_of

_numbers = itertools.count()


class CriticalSection:
    """Runs functions one after the other, whichever threads and graphs they come from."""

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def is not None:
            raise ValueError("Argument `critical_section_def` is not supported.")
        number = next(_numbers)
        self._name = shared_name or name or ("critical_section" + (f"_{number}" if number else ""))
        self._lock = threading.Lock()
        self._holder = None  # the thread inside

    name = property(lambda self: self._name)

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """What ``fn()`` returns, computed while no other thread is inside."""
        if not callable(fn):
            raise ValueError(f"fn must be callable, got {fn!r}")
        if is_tracing():
            return self._staged(fn)
        with self._inside():
            return fn()

    def _inside(self):
        if self._holder == threading.get_ident():
            raise ValueError(
                f"Attempting to lock a CriticalSection (signature={self._name}) in which we are "
                "already running. This is illegal and may cause deadlocks."
            )
        return _Inside(self)

    def _staged(self, fn):
        """One step of the graph, which runs a graph of its own."""
        with building(self._name) as builder:
            structure, outputs = Structure.of(fn(), tensor_or_none)
            outputs = [builder.own(t) for t in outputs]
            graph = builder.finish(outputs)
        specs = [(t.dtype, sizes_of(t.shape)) for t in outputs]

        def run(*values):
            with self._inside(), lifted():
                return graph.run(list(values))

        return structure.pack(_tidemark.python_call(run, builder.captures, specs, True))


class _Inside:
    """A context that one thread at a time is in."""

    def __init__(self, section):
        self._section = section

    def __enter__(self):
        self._section._lock.acquire()
        self._section._holder = threading.get_ident()

    def __exit__(self, *error):
        self._section._holder = None
        self._section._lock.release()
        return False
