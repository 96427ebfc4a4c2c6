"""Subjects of several processes: the one that is measured and its copies."""

from __future__ import annotations

import os
import socket
import time
import traceback


def on_workers(count, work):
    """What ``work(rank, addresses)`` gives in this process, while copies of it do the same.

    Each has one core, as far as there are enough. To be called before anything that has threads
    is imported.
    """
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in held]
    for one in held:
        one.close()
    cores = sorted(os.sched_getaffinity(0))
    os.environ.update(TIDEMARK_NUM_THREADS="1", OMP_NUM_THREADS="1")
    os.environ["TIDEMARK_SECRET"] = "of this benchmark alone"
    others = []
    for rank in range(1, count):
        child = os.fork()
        if child == 0:
            os.sched_setaffinity(0, {cores[rank % len(cores)]})
            try:
                work(rank, addresses)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        others.append(child)
    os.sched_setaffinity(0, {cores[0]})
    found = work(0, addresses)
    for child in others:
        if os.waitpid(child, 0)[1] != 0:
            raise RuntimeError("a worker failed")
    return found


def best_seconds(call, barrier, calls, repeats):
    """Of one call, all workers calling together."""
    call()
    best = float("inf")
    for _ in range(repeats):
        barrier()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - start) / calls)
    return best
