"""All traces of the process, bounded in bytes: the one used longest ago goes first.

The extension keeps the order, for functions of Python and of C++ alike; functions own their traces.
"""

from __future__ import annotations

import weakref

from tidemark import _tidemark


class TraceCache:
    """Which function holds which traces."""

    def add(self, function, trace):
        """Counts a trace; the function is asked to drop it when it has to go."""
        weak_function, weak_trace = weakref.ref(function), weakref.ref(trace)

        def drop():
            function, trace = weak_function(), weak_trace()
            if function is not None and trace is not None:
                function._drop(trace)

        trace.key = _tidemark.trace_cache_add(trace.nbytes, drop)
        weakref.finalize(trace, _tidemark.trace_cache_remove, trace.key).atexit = False

    def touch(self, trace):
        """The trace is used now."""
        _tidemark.trace_cache_touch(trace.key)

    @property
    def nbytes(self):
        return _tidemark.trace_cache_bytes()


CACHE = TraceCache()
