"""Poolings whose windows differ in size by one: ``tf.nn.fractional_max_pool`` and its kin."""

from __future__ import annotations

import collections

import numpy as np

import tidemark
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import known_size
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError

_PARTS = ["output", "row_pooling_sequence", "col_pooling_sequence"]


FractionalMaxPool = collections.namedtuple("FractionalMaxPool", _PARTS)


FractionalAvgPool = collections.namedtuple("FractionalAvgPool", _PARTS)


def _cuts(length, out, pseudo_random, draw):
    """Where windows begin: out + 1 rising numbers from 0 to length."""
    ratio = length / out
    if pseudo_random:
        # The steps are the floor and the ceiling of the ratio, by where a drawn line crosses.
        u = draw[0]
        cuts = [int(np.ceil(ratio * (i + u))) - int(np.ceil(ratio * u)) for i in range(out + 1)]
        cuts[-1] = length
        return np.array(cuts)
    low = int(np.floor(ratio))
    longer = length - low * out
    steps = np.full(out, low)
    order = np.argsort(draw[:out])
    steps[order[:longer]] += 1
    return np.concatenate([[0], np.cumsum(steps)])


@sized_when_run(part_of="tf.nn.fractional_*_pool")
def _sequences(x, ratios, pseudo_random, draws):
    """The cuts of rows and columns."""
    sizes = [known_size(x, axis) for axis in (1, 2)]
    numbers = np.asarray(draws.numpy(), np.float64)
    result = []
    for i, (n, ratio) in enumerate(zip(sizes, ratios, strict=True)):
        out = int(np.floor(n / ratio))
        if out < 1:
            raise InvalidArgumentError(
                None, None, f"[fractional pooling] a ratio of {ratio} leaves nothing of {n} pixels"
            )
        cuts = _cuts(n, out, pseudo_random, np.resize(numbers[i], max(out, 1)))
        result.append(convert_to_tensor(cuts.astype(np.int64)))
    return tuple(result)


def _pooled(kind, value, pooling_ratio, pseudo_random, overlapping, seed):
    x = convert_to_tensor(value)
    ratios = pooling_ratio
    if isinstance(ratios, (int, float)):
        ratios = [1.0, float(ratios), float(ratios), 1.0]
    ratios = [float(r) for r in ratios]
    if len(ratios) == 1:
        ratios = [1.0, ratios[0], ratios[0], 1.0]
    if len(ratios) == 2:
        ratios = [1.0, *ratios, 1.0]
    if len(ratios) != 4 or ratios[0] != 1 or ratios[3] != 1 or min(ratios) < 1:
        raise ValueError(
            f"pooling_ratio is at least 1, and 1 for the batch and the channels; not {ratios}"
        )
    draws = tidemark.random.uniform([2, 1024], seed=seed or None)
    rows, columns = _sequences(x, tuple(ratios[1:3]), bool(pseudo_random), draws)
    result = FractionalMaxPool if kind == "max" else FractionalAvgPool
    return result(_regions(kind, x, rows, columns, bool(overlapping)), rows, columns)


def _windows(cuts, overlapping):
    """The number of the element at each place of each window, the last one where it ends early."""
    cuts = np.asarray(cuts.numpy())
    last = cuts[1:] - (0 if overlapping else 1)
    last = np.minimum(last, cuts[-1] - 1)
    width = int((last - cuts[:-1]).max()) + 1
    places = cuts[:-1, None] + np.arange(width)
    return np.minimum(places, last[:, None]), places <= last[:, None]


@sized_when_run(part_of="tf.nn.fractional_*_pool")
def _regions(kind, x, rows, columns, overlapping):
    down, down_good = _windows(rows, overlapping)
    across, across_good = _windows(columns, overlapping)
    y = call("gather", (x, convert_to_tensor(down)), {"axis": 1})
    y = call("gather", (y, convert_to_tensor(across)), {"axis": 3})
    # [batch, windows, rows of one, windows, columns of one, channels]
    if kind == "max":
        return call("max", (y,), {"axis": [2, 4]})
    weights = (down_good[:, :, None, None] & across_good[None, None]).astype(np.float64)
    weights = weights / weights.sum((1, 3), keepdims=True)
    weights = call("cast", (convert_to_tensor(weights[None, ..., None]),), {"dtype": x.dtype})
    return call("sum", (call("multiply", (y, weights), {}),), {"axis": [2, 4]})


@export("tf.nn.fractional_max_pool")
def fractional_max_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None
):
    """The greatest element of regions whose sizes differ by one and come in random order: the
    result, and where the regions of rows and columns begin."""
    return _pooled("max", value, pooling_ratio, pseudo_random, overlapping, seed)


@export("tf.nn.fractional_avg_pool")
def fractional_avg_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None
):
    """The mean of regions whose sizes differ by one and come in random order."""
    return _pooled("avg", value, pooling_ratio, pseudo_random, overlapping, seed)
