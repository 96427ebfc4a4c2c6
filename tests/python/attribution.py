"""Runs a program and asks again and again, while it runs, who holds its bytes.

    python attribution.py [--seconds=8] program.py [arguments]    # prints JSON: what was seen

Every moment is one of the program's: a thread of its own looks by the clock, also while kernels
run. A byte is attributed when its line and its holder are both known.
"""

from __future__ import annotations

import collections
import json
import os
import sys
import threading
import time

_LEAST_LIVE = 256 << 10  # moments with less say nothing about a share
_SHARE = 0.25  # of the time that looks may take


class Sampler:
    """Looks at this process until it is stopped."""

    def __init__(self):
        self.live = self.known = self.looks = self.judged = 0
        self.least, self.worst = 1.0, []
        self.unknown = collections.Counter()
        self.largest_gap = 0  # between the four numbers and resident memory
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look_on, name="sampler", daemon=True)

    def start(self):
        self._thread.start()

    def stop(self):
        self._end.set()
        self._thread.join()

    def _look_on(self):
        wait = 0.01
        while not self._end.wait(wait):
            began = time.monotonic()
            self.look()
            wait = max(0.01, (time.monotonic() - began) / _SHARE)

    def look(self):
        from tidemark._explain import holders

        from tidemark import _tidemark

        found = holders.holders()
        live, known = holders.coverage(found)
        self.looks += 1
        self.live += live
        self.known += known
        unknown = {
            f"{holder.words} | {' '.join(map(str, key))}": size
            for holder in found
            for key, size in holder.groups.items()
            if not holders.is_known(holder, key)
        }
        self.unknown.update(unknown)
        if live >= _LEAST_LIVE:
            self.judged += 1
            if known < self.least * live:
                self.least = known / live
                self.worst = sorted(unknown.items(), key=lambda item: -item[1])[:8]
        self.largest_gap = max(self.largest_gap, min(_gap(_tidemark) for _ in range(3)))

    def to_json(self):
        return {
            "looks": self.looks, "judged": self.judged, "live": self.live, "known": self.known,
            "share": self.known / self.live if self.live else 1.0, "least": self.least,
            "worst": self.worst, "unknown": self.unknown.most_common(12),
            "largest_gap": self.largest_gap,
        }  # fmt: skip


def _gap(_tidemark):
    """How far the four numbers are from what the system says. The program goes on between the two:
    it is asked before and after, and the smallest gap of a few counts."""
    before = resident()
    stats = _tidemark.stats()
    after = resident()
    four = stats["live"] + stats["planned"] + stats["retained"] + stats["not_ours"]
    ours = four - stats["untouched"]
    return max(0, min(before, after) - ours, ours - max(before, after))


def resident():
    """Of this process, as the system counts it."""
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main(program):
    from tidemark.cli.run import execute

    import tidemark  # noqa: F401  (its own start is not the program's)

    sampler = Sampler()
    out = os.dup(1)
    os.dup2(2, 1)
    status = 0
    if program[0].startswith("--seconds="):  # enough has been seen then
        seconds = float(program.pop(0).partition("=")[2])
        threading.Thread(target=_end, args=(seconds, sampler, out), daemon=True).start()
    sampler.start()
    try:
        execute(None, program, at_end=sampler.stop)
    except SystemExit as end:
        status = end.code or 0
    _tell(out, status, sampler)


def _tell(out, status, sampler):
    os.write(out, json.dumps({"status": status, **sampler.to_json()}).encode())


def _end(seconds, sampler, out):
    time.sleep(seconds)
    sampler.stop()
    _tell(out, 0, sampler)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
