"""Live bytes by line, op and sort, over steps: what a recording tells of our own runtime, kept
here as tensors come and go."""

from __future__ import annotations

import itertools
import time
from collections import Counter

from tidemark._explain import rounds

_MOST_SAMPLES = 512
_MOST_ROWS = 12
_FEWEST_ROUNDS = 5
_PLENTY = 16  # preferred
_A_PART = 4  # of the lines of the commonest count, what is enough
_MOST_ON_A_LINE = 8  # times that an op may stand on one line


class Accounts:
    """What lives, by (place, op, holder)."""

    def __init__(self):
        self.live = Counter()
        self.peaks = Counter()
        self.counts = Counter()
        self.made = Counter()  # (place, op) → how often it ran
        self.total = self.peak = 0
        self._samples = []  # (how often each op ran by then, bytes, {group: bytes})
        self._ops = 0
        self._began, self.peak_time = time.monotonic_ns(), 0
        self._every = 1

    def op(self, place, op):
        """An op ran; now and then the accounts are noted."""
        self.made[place, op] += 1
        self._ops += 1
        if self._ops % self._every == 0:
            now = time.monotonic_ns() - self._began
            self._samples.append((dict(self.made), self.total, dict(self.live), now))
            if len(self._samples) >= _MOST_SAMPLES:
                self._samples = self._samples[::2]
                self._every *= 2

    def begin(self, key, size):
        self.live[key] += size
        self.counts[key] += 1
        self.peaks[key] = max(self.peaks[key], self.live[key])
        self.total += size
        if self.total > self.peak:
            self.peak, self.peak_time = self.total, time.monotonic_ns() - self._began

    def end(self, key, size):
        self.live[key] -= size
        self.total -= size

    def rounds(self):
        """(how often lines ran, the first such line and op): the steps of the program. As the
        runtime's own recordings are read: of the counts that enough lines share the lowest, and
        none of lines that run now and then where there are others."""
        lines = self._lines()
        if any(n >= _PLENTY for n, _ in lines.values()):
            lines = {place: told for place, told in lines.items() if told[0] >= _PLENTY}
        steady = {place: told for place, told in lines.items() if not rounds.is_occasional(place)}
        lines = steady or lines
        weights = Counter(n for n, _ in lines.values())
        if not weights:
            return 0, "", ""
        heaviest = max(weights.values())
        enough = heaviest if heaviest < 2 else max(2, heaviest / _A_PART)
        count = min(n for n, weight in weights.items() if weight >= enough)
        return next((n, place, op) for place, (n, op) in lines.items() if n == count)

    def analysis(self, limit):
        """As ``analyse_recording`` tells it."""
        count, place, op = self.rounds()
        steps = [made.get((place, op), 0) for made, *_ in self._samples]
        kept = [  # one sample a step
            at for at, (step, after) in enumerate(itertools.pairwise([*steps, None]))
            if step != after and step
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
                      "lines": {place: n for place, (n, _) in self._lines().items()},
                      "until": kept[-1] / max(1, len(self._samples) - 1) if kept else 1.0,
                      "live": [self._samples[at][1] for at in kept],
                      "times": [self._samples[at][3] for at in kept]},
            "groups": groups, "peak": self.peak, "live_at_end": self.total, "limit": limit,
            "timeline": self._timeline(), "peak_time": self.peak_time,
            "duration": time.monotonic_ns() - self._began, "events": self._ops, "lost": 0,
            "whole": True, "plans": [], "alive": [],
            "ops": [],
        }  # fmt: skip

    def _lines(self):
        """{place: (how often it ran, an op that says so)} of those that ran in rounds."""
        by_place = {}
        for (place, op), times in self.made.items():
            by_place.setdefault(place, []).append((times, op))
        lines = {place: _times(ops) for place, ops in by_place.items()}
        return {place: told for place, told in lines.items() if told[0] >= _FEWEST_ROUNDS}

    def _timeline(self):
        """Live bytes over time by line and by kind of holder, the largest first."""
        told = {"times": [now for *_, now in self._samples]}
        for name, part in (("by_place", 0), ("by_holder", 2)):
            highest = Counter()
            for key, size in self.peaks.items():
                highest[key[part]] += size
            rows = {label: [] for label, _ in highest.most_common(_MOST_ROWS)}
            for _, _, live, _ in self._samples:
                sums = Counter()
                for key, size in live.items():
                    sums[key[part]] += size
                for label, values in rows.items():
                    values.append(sums[label])
            told[name] = [(label, values) for label, values in rows.items()]
        return {**told, "by_label": [("(all)", [total for _, total, *_ in self._samples])]}


def _times(ops):
    """(how often a line ran, an op that says so): an op may be on it twice, and some that only
    tracing runs come once or twice in all."""
    most = max(ops)[0]
    few = max(2, most // 32)  # that came with the first call
    return min(one for one in ops if one[0] * _MOST_ON_A_LINE >= most
               and abs(most - round(most / one[0]) * one[0]) <= few)  # fmt: skip
