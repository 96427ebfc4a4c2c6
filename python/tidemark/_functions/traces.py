"""All traces of the process, bounded in bytes: the one used longest ago goes first."""

from __future__ import annotations

import collections
import threading
import weakref

from tidemark import _tidemark


class TraceCache:
    """Which function holds which traces, in the order of their last use.

    Functions own their traces; this knows them weakly and asks a function to drop one.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._order = collections.OrderedDict()  # id → (weak trace, weak function, bytes)
        self._bytes = 0

    def add(self, function, trace):
        key = id(trace)
        forget = weakref.ref(self)

        def gone(_):
            cache = forget()
            if cache is not None:
                cache._forget(key)

        with self._lock:
            entry = (weakref.ref(trace, gone), weakref.ref(function), trace.nbytes)
            self._order[key] = entry
            self._bytes += trace.nbytes
        _tidemark.trace_cache_changed(1, trace.nbytes)
        self._shrink(keep=key)

    def _forget(self, key):
        with self._lock:
            entry = self._order.pop(key, None)
            if entry is None:
                return
            self._bytes -= entry[2]
        _tidemark.trace_cache_changed(-1, -entry[2])

    def touch(self, trace):
        """The trace is used now."""
        with self._lock:
            if id(trace) in self._order:
                self._order.move_to_end(id(trace))

    def _shrink(self, keep):
        limit = _tidemark.trace_cache_limit()
        while True:
            with self._lock:
                if self._bytes <= limit:
                    return
                key = next((k for k in self._order if k != keep), None)
                if key is None:
                    return
                trace, function, _ = self._order[key]
            trace, function = trace(), function()
            if trace is not None and function is not None:
                function._drop(trace)
            del trace
            self._forget(key)
            _tidemark.trace_cache_evicted()

    @property
    def nbytes(self):
        return self._bytes


CACHE = TraceCache()
