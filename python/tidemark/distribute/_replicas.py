"""Several replicas of one process: each has a thread, and one of them runs at a time.

A replica runs until it ends or asks all of them together for something (``merge_call``). Then the
next one runs; when all have asked, the thread that started them answers, and they go on. So they
land in one graph where one is being built, and need no locks.
"""

from __future__ import annotations

import threading

from tidemark import _tidemark
from tidemark._graph import scopes
from tidemark.config import _placement
from tidemark.distribute._values import regroup, select


class _AbandonedError(BaseException):
    """Ends a replica whose others failed."""


class Replica(threading.Thread):
    """One call of the function, with its thread."""

    def __init__(self, context, function, args, kwargs):
        super().__init__(name=f"replica {context.replica_id_in_sync_group}", daemon=True)
        self._context, self._call = context, (function, args, kwargs)
        self._place = _tidemark.ThreadPlace()
        self._builder = _tidemark.builder_number()
        self._locals = _thread_locals()
        self._goes, self._stands = threading.Semaphore(0), threading.Semaphore(0)
        self.asks = self.answer = self.result = self.error = None
        self.is_done = self.is_abandoned = False

    def run(self):
        self._goes.acquire()
        function, args, kwargs = self._call
        self._place.enter()
        try:
            if not self.is_abandoned:
                for local, values in self._locals:
                    local.__dict__.update(values)
                context = self._context
                context._replica = self
                with context:
                    self.result = function(*args, **kwargs)
        except BaseException as error:  # the thread that waits raises it
            self.error = error
        finally:
            self._place.exit()
            self._call = self._locals = self._context = None
            self.is_done = True
            self._stands.release()

    def go_on(self):
        """Lets it run until it asks for something or ends."""
        self._goes.release()
        self._stands.acquire()

    def ask(self, merge_fn, args, kwargs):
        """On its own thread: waits for the answer of all replicas together."""
        self.asks = (merge_fn, args, kwargs)
        self._stands.release()
        self._goes.acquire()
        if self.is_abandoned:
            raise _AbandonedError
        return self.answer

    @property
    def is_in_a_function(self):
        """On its own thread: whether a function is being traced that began inside of it."""
        return _tidemark.builder_number() != self._builder


def _thread_locals():
    """What this thread knows of the scopes around it: (thread local, its values)."""
    from tidemark._functions import function  # only functions need it
    from tidemark.autograph import _context, _staging  # only tracing needs it

    found = []
    for local in (scopes._state, _placement._state, function._thread, _context._thread,
                  _staging._thread):  # fmt: skip
        values = {k: list(v) if isinstance(v, list) else v for k, v in vars(local).items()}
        found.append((local, values))
    return found


def run(strategy, contexts, function, args, kwargs):
    """What the replicas give, put together."""
    replicas = [
        Replica(context, function, select(args, i), select(kwargs, i))
        for i, context in enumerate(contexts)
    ]
    for replica in replicas:
        replica.start()
    try:
        while True:
            for replica in replicas:
                replica.go_on()
                if replica.error is not None:
                    raise replica.error
            done = [replica.is_done for replica in replicas]
            if all(done):
                return regroup([replica.result for replica in replicas])
            if any(done):
                raise RuntimeError(
                    "Some replicas ended while others wait for all of them: merge_call, all_reduce "
                    "and updates of variables must happen equally often in each"
                )
            _answer(strategy, replicas)
    finally:
        for replica in replicas:
            if not replica.is_done:
                replica.is_abandoned = True
                replica.go_on()
            replica.join()
            replica.error = None  # its traceback holds the replica


def _answer(strategy, replicas):
    merge_fn = replicas[0].asks[0]
    args = regroup([replica.asks[1] for replica in replicas])
    kwargs = regroup([replica.asks[2] for replica in replicas])
    strategy._enter(None)
    try:
        found = merge_fn(strategy, *args, **kwargs)
    finally:
        strategy._exit()
    for number, replica in enumerate(replicas):
        replica.asks, replica.answer = None, select(found, number)
