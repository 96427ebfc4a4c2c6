"""``tf.profiler.experimental``: what happens between start and stop, for a trace viewer.

    tf.profiler.experimental.start("logs")
    with tf.profiler.experimental.Trace("train", step_num=1):
        ...
    tf.profiler.experimental.stop()     # writes logs/plugins/profile/<time>/trace.json

The file is in the format of Chrome's trace viewer and Perfetto.
"""

from __future__ import annotations

import collections
import json
import os
import threading
import time

from tidemark._export import refusing as _refusing
from tidemark.errors import AlreadyExistsError, UnavailableError

ProfilerOptions = collections.namedtuple(
    "ProfilerOptions",
    ["host_tracer_level", "python_tracer_level", "device_tracer_level", "delay_ms"],
    defaults=(2, 0, 1, None),
)
_MOST_EVENTS = 1_000_000  # older ones are dropped: a trace that is never stopped stays bounded
_lock = threading.Lock()
_session = None


class _Session:
    def __init__(self, logdir):
        self.logdir = logdir
        self.events = collections.deque(maxlen=_MOST_EVENTS)


def start(logdir, options=None):
    """Begins to note what ``Trace`` marks."""
    global _session
    with _lock:
        if _session is not None:
            raise AlreadyExistsError(None, None, "Another profiler is running.")
        _session = _Session(os.fspath(logdir))


def stop(save=True):
    """Ends it, and writes the trace unless told not to."""
    global _session
    with _lock:
        session, _session = _session, None
    if session is None:
        raise UnavailableError(
            None, None, "Cannot export profiling results. No profiler is running."
        )
    if save:
        _write(session)


def _write(session):
    folder = os.path.join(session.logdir, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "trace.json")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump({"traceEvents": list(session.events)}, file)
    os.replace(path + ".part", path)


class Profile:
    """A context that is profiled."""

    def __init__(self, logdir, options=None):
        self._logdir, self._options = logdir, options

    def __enter__(self):
        start(self._logdir, self._options)

    def __exit__(self, *error):
        stop()


class Trace:
    """A context that is one event in the trace."""

    def __init__(self, name, **kwargs):
        self._name, self._details = name, kwargs
        self._begin = None

    def __enter__(self):
        if _session is not None:
            self._begin = time.perf_counter_ns()
        return self

    def set_metadata(self, **kwargs):
        """Adds details to the event."""
        self._details.update(kwargs)

    def __exit__(self, *error):
        session = _session
        if session is None or self._begin is None:
            return
        end = time.perf_counter_ns()
        session.events.append(
            {
                "name": self._name,
                "ph": "X",
                "ts": self._begin / 1000,
                "dur": (end - self._begin) / 1000,
                "pid": os.getpid(),
                "tid": threading.get_ident(),
                "args": {key: str(value) for key, value in self._details.items()},
            }
        )


__getattr__ = _refusing("tf.profiler.experimental")
