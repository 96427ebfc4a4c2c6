"""``tf.train.Coordinator``: threads that stop together, and tell why."""

from __future__ import annotations

import contextlib
import threading
import time

from tidemark import errors


class Coordinator:
    """Threads ask ``should_stop``; whoever fails or is done calls ``request_stop``."""

    def __init__(self, clean_stop_exception_types=None):
        self._clean = tuple(clean_stop_exception_types or (errors.OutOfRangeError,))
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads, self._error, self._joined = [], None, False

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def clear_stop(self):
        with self._lock:
            self._joined, self._error = False, None
            self._stop.clear()

    def request_stop(self, ex=None):
        """Asks all threads to stop; an error given is raised by ``join``."""
        with self._lock:
            if self._joined:
                raise (ex[1] if isinstance(ex, tuple) else ex) or RuntimeError("joined already")
            if isinstance(ex, tuple):
                ex = ex[1]
            if self._error is None and ex is not None and not isinstance(ex, self._clean):
                self._error = ex
            self._stop.set()

    @contextlib.contextmanager
    def stop_on_exception(self):
        """A context whose errors ask all threads to stop."""
        try:
            yield
        except Exception as error:
            self.request_stop(error)

    def register_thread(self, thread):
        with self._lock:
            self._threads.append(thread)

    joined = property(lambda self: self._joined)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        """Waits for the threads; raises the error of the one that failed."""
        with self._lock:
            waited = list(dict.fromkeys([*self._threads, *(threads or ())]))
        while any(t.is_alive() for t in waited) and not self.wait_for_stop(0.02):
            pass
        limit = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            thread.join(max(0.0, limit - time.monotonic()))
        left = [t.name for t in waited if t.is_alive()]
        with self._lock:
            self._joined, self._threads = True, []
            error = self._error
        if error is not None:
            raise error
        if left and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(left)}")

    def raise_requested_exception(self):
        with self._lock:
            if self._error is not None:
                raise self._error


class LooperThread(threading.Thread):
    """Calls a function until the coordinator says stop."""

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None):
        super().__init__(daemon=True)
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        self._coord, self._interval = coord, timer_interval_secs
        self._work, self._given = target, (args or (), kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None):
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self):
        with self._coord.stop_on_exception():
            if self._interval is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                while not self._coord.wait_for_stop(self._interval):
                    self.run_loop()

    def run_loop(self):
        if self._work:
            self._work(*self._given[0], **self._given[1])
