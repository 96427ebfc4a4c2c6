"""Timing and memory helpers for the measured processes; standard library only."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable

THREADS = 2


def use_two_cores() -> None:
    """Every subject gets the same two cores, whatever its own thread settings are."""
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, allowed[:THREADS])


def best_ns(call: Callable[[], object], calls: int, repeats: int = 5) -> float:
    """Nanoseconds a call, the best of ``repeats`` loops; the result is dropped after each call."""
    return interleaved_ns({"call": call}, calls, repeats)["call"]


def interleaved_ns(
    by_name: dict[str, Callable[[], object]], calls: int, repeats: int = 5
) -> dict[str, float]:
    """As best_ns for several calls, taking turns loop by loop."""
    best = dict.fromkeys(by_name, float("inf"))
    for call in by_name.values():
        call()
        call()
    gc.disable()
    for _ in range(repeats):
        for name, call in by_name.items():
            turns = range(calls)
            start = time.perf_counter_ns()
            for _ in turns:
                call()
            best[name] = min(best[name], (time.perf_counter_ns() - start) / calls)
    gc.enable()
    return best


def resident_bytes() -> int:
    """Exact resident memory (the cheap counters of /proc/self/statm lag by pages per thread)."""
    with open("/proc/self/smaps_rollup") as lines:
        for line in lines:
            if line.startswith("Rss:"):
                return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/smaps_rollup has no Rss line")


def start_resident_peak() -> None:
    """From now on resident_peak_bytes counts anew."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def resident_peak_bytes() -> int:
    """The highest resident memory since start_resident_peak."""
    with open("/proc/self/status") as lines:
        for line in lines:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status has no VmHWM line")


def normal_floats(seed: int, side: int):
    """A square of normal numbers, the same for every subject."""
    import numpy

    return numpy.random.default_rng(seed).standard_normal((side, side), dtype=numpy.float32)
