"""Live bytes by line, op and sort, over steps: what a recording tells of our own runtime, kept
here as tensors come and go."""

from __future__ import annotations

import itertools
from collections import Counter

_MOST_SAMPLES = 512
_FEWEST_ROUNDS = 5


class Accounts:
    """What lives, by (place, op, holder)."""

    def __init__(self):
        self.live = Counter()
        self.peaks = Counter()
        self.counts = Counter()
        self.made = Counter()  # (place, op) → how often it ran
        self.total = self.peak = 0
        self._samples = []  # (ops so far, {group: bytes})
        self._ops = 0
        self._every = 1

    def op(self, place, op):
        """An op ran; now and then the accounts are noted."""
        self.made[place, op] += 1
        self._ops += 1
        if self._ops % self._every == 0:
            self._samples.append((self._ops, self.total, dict(self.live)))
            if len(self._samples) >= _MOST_SAMPLES:
                self._samples = self._samples[::2]
                self._every *= 2

    def begin(self, key, size):
        self.live[key] += size
        self.counts[key] += 1
        self.peaks[key] = max(self.peaks[key], self.live[key])
        self.total += size
        self.peak = max(self.peak, self.total)

    def end(self, key, size):
        self.live[key] -= size
        self.total -= size

    def rounds(self):
        """(how often most lines ran, the first such line): the steps of the program."""
        often = Counter(n for n in self.made.values() if n >= _FEWEST_ROUNDS)
        if not often:
            return 0, ""
        count = max(often, key=lambda n: (often[n], n))
        return count, next(place for (place, _), n in self.made.items() if n == count)

    def analysis(self, limit):
        """As ``analyse_recording`` tells it."""
        count, place = self.rounds()
        per_op = count / max(1, self._ops)
        steps = [round(ops * per_op) for ops, *_ in self._samples]
        kept = [  # one sample a step
            at for at, (step, after) in enumerate(itertools.pairwise([*steps, None]))
            if step != after
        ]  # fmt: skip
        groups = [
            {"place": key[0], "op": key[1], "holder": key[2], "live_bytes": self.live[key],
             "live_count": self.counts[key], "peak_bytes": self.peaks[key],
             "bytes_at_peak": self.peaks[key], "count_at_peak": self.counts[key],
             "at_samples": [self._samples[at][2].get(key, 0) for at in kept]}
            for key in self.counts
        ]  # fmt: skip
        return {
            "steps": {"count": count, "how": "rounds", "place": place,
                      "samples": [steps[at] for at in kept],
                      "live": [self._samples[at][1] for at in kept]},
            "groups": groups, "peak": self.peak, "live_at_end": self.total, "limit": limit,
        }  # fmt: skip
