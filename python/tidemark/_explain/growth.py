"""Whether memory grows from step to step: a robust test, and a verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_MOST_POINTS = 160
_FEWEST_STEPS = 6
FLAT, GROWING, SAWTOOTH, PEAK = "flat", "growing", "sawtooth", "peak too high"


@dataclass
class Growth:
    """What a series of bytes at steps says."""

    verdict: str = FLAT
    bytes_per_step: float = 0.0
    since: int = 0  # the step from which on it was judged

    @property
    def is_growing(self):
        return self.verdict == GROWING


def theil_sen(x, y):
    """The median of the slopes between all pairs of points: no outlier moves it."""
    first, second = np.triu_indices(len(x), 1)
    return float(np.median((y[second] - y[first]) / (x[second] - x[first])))


def judge(steps, values):
    """The verdict on bytes at steps. The first tenth is warm-up: caches fill, plans are made."""
    x, y = np.asarray(steps, dtype=float), np.asarray(values, dtype=float)
    if len(x) < _FEWEST_STEPS:
        return Growth()
    cut = min(max(2, len(x) // 10), len(x) - _FEWEST_STEPS + 1)
    x, y = x[cut:], y[cut:]
    since = int(x[0])
    if len(x) > _MOST_POINTS:
        some = np.linspace(0, len(x) - 1, _MOST_POINTS).astype(int)
        x_some, y_some = x[some], y[some]
    else:
        x_some, y_some = x, y
    slope = theil_sen(x_some, y_some)
    gained = slope * (x[-1] - x[0])
    spread = float(y.max() - y.min())
    goes_on = slope > 0 and _goes_on(x, y, slope) and gained >= max(64, 0.25 * spread)
    # No jump alone makes a trend.
    if goes_on and theil_sen(x_some, _without_largest_jump(y_some)) > 0.5 * slope:
        return Growth(GROWING, slope, since)
    if _is_sawtooth(y, spread):
        return Growth(SAWTOOTH, 0.0, since)
    return Growth(FLAT, 0.0, since)


def _goes_on(x, y, slope):
    """Each third of the time has its part in the growth, of what is there at least as of what is
    there mostly: what falls back to where it was does not grow."""
    between = np.maximum(1e-9, np.diff([np.median(part) for part in np.array_split(x, 3)]))
    thirds = np.array_split(y, 3)
    return all(
        np.all(np.diff([level(part) for part in thirds]) / between > 0.4 * slope)
        for level in (np.median, np.min)
    )


def _without_largest_jump(y):
    """The values as if they had not risen where they rose most at once, and stayed."""
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(np.pad(y, 1, "edge"), 3), axis=1)
    rises = np.diff(smooth)
    at = int(np.argmax(rises))
    return np.concatenate([smooth[: at + 1], smooth[at + 1 :] - max(0.0, rises[at])])


def _is_sawtooth(y, spread):
    """It rises again and again, and falls back each time."""
    if spread < max(65536, 0.2 * float(y.max())):
        return False
    drops = int(np.sum(np.diff(y) < -0.5 * spread))
    rises = int(np.sum(np.diff(y) > 0))
    return drops >= 2 and rises >= 3 * drops


def growing_groups(analysis):
    """[(place, op, ledger's holder), Growth] of what grows, and of the caches, apart."""
    samples = analysis["steps"]["samples"]
    found, caches = [], []
    merged = {}
    for group in analysis["groups"]:
        if not group["at_samples"]:
            continue
        key = (group["place"], group["op"], group["holder"])
        values = np.asarray(group["at_samples"], dtype=np.int64)
        merged[key] = merged[key] + values if key in merged else values
    for key, values in merged.items():
        if values[-1] <= values[len(values) // 2] <= 0:
            continue
        growth = judge(samples, values)
        if growth.is_growing:
            (caches if key[2] == "cache" else found).append((key, growth))
    return found, caches


def overall(analysis, limit=None):
    """The verdict on the program as a whole, without our own caches."""
    steps = analysis["steps"]
    values = np.asarray(steps["live"], dtype=np.int64)
    for group in analysis["groups"]:
        if group["holder"] == "cache" and group["at_samples"]:
            values = values - np.asarray(group["at_samples"], dtype=np.int64)
    growth = judge(steps["samples"], values) if len(values) else Growth()
    limit = limit or analysis["limit"]
    if growth.verdict == FLAT and limit and analysis["peak"] > 0.8 * limit:
        growth.verdict = PEAK
    return growth


def steps_until(limit, live, bytes_per_step):
    """How many steps until the limit is hit; None: never."""
    if bytes_per_step <= 0:
        return None
    return max(0, int((limit - live) / bytes_per_step))
