"""``tf.__internal__.monitoring``: counters and gauges, kept in the process and told to nobody."""

from __future__ import annotations

_NO_LABELS = ()


class _Cell:
    """One number, truth or text."""

    def __init__(self, value):
        self._value = value

    def value(self):
        return self._value

    def set(self, value):
        self._value = value

    def increase_by(self, value):
        self._value += value

    def add(self, value):
        self._value += value


class _Metric:
    """Cells by their labels."""

    first = 0

    def __init__(self, name, *args):
        self.name, self._cells = name, {}

    def get_cell(self, *labels):
        return self._cells.setdefault(labels or _NO_LABELS, _Cell(self.first))


class Counter(_Metric):
    """A number that grows."""


class IntGauge(_Metric):
    """A number that is set."""


class StringGauge(_Metric):
    """A text that is set."""

    first = ""


class BoolGauge(_Metric):
    """A truth that is set."""

    first = False


class Sampler(_Metric):
    """Numbers that were seen; their sum is kept."""


class ExponentialBuckets:
    """How a sampler would group its numbers."""

    def __init__(self, scale, growth_factor, bucket_count):
        self.scale, self.growth_factor, self.bucket_count = scale, growth_factor, bucket_count
