"""Sequences made monotone: ``tf.nn.isotonic_regression``."""

from __future__ import annotations

import numpy as np

from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import sizes_of
from tidemark._tidemark import call
from tidemark.autodiff._custom_gradient import custom_gradient


def _pooled(row):
    """The nearest falling sequence, and the number of the block of equal values of each element."""
    blocks = []  # sum and count
    for value in row:
        blocks.append([float(value), 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] < blocks[-1][0] * blocks[-2][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    values = np.concatenate([np.full(n, s / n) for s, n in blocks]) if blocks else np.zeros(0)
    numbers = np.repeat(np.arange(len(blocks)), [n for _, n in blocks]) if blocks else np.zeros(0)
    return values, numbers


@sized_when_run(part_of="tf.nn.isotonic_regression")
def _blocks(rows):
    """For each row of a matrix, the number of each element's block, counted through all rows."""
    array = np.asarray(rows.numpy()).astype(np.float64)
    out, first = np.zeros(array.shape, np.int32), 0
    for i, row in enumerate(array):
        numbers = _pooled(row)[1]
        out[i] = numbers + first
        first += int(numbers[-1]) + 1 if len(numbers) else 0
    return convert_to_tensor(out)


def _averaged(x, blocks):
    """Each element replaced by the mean of its block."""
    flat = call("reshape", (blocks, [-1]), {})
    values = call("reshape", (x, [-1]), {})
    count = call("size", (flat,), {})
    sums = call("unsorted_segment_sum", (values, flat, count), {})
    ones = call("unsorted_segment_sum", (call("ones_like", (values,), {}), flat, count), {})
    means = call("divide_no_nan", (sums, ones), {})
    return call("reshape", (call("gather", (means, flat), {}), call("shape", (x,), {})), {})


@export("tf.nn.isotonic_regression")
def isotonic_regression(inputs, decreasing=True, axis=-1):
    """The falling (or rising) sequence nearest to each along the axis, and the number of the block
    of equal values that each element belongs to."""
    inputs = convert_to_tensor(inputs)
    given = inputs.dtype
    if not given.is_floating:
        wide = dtypes.float64 if given.size >= 4 else dtypes.float32
        inputs = call("cast", (inputs,), {"dtype": wide})
    rank = inputs.shape.rank
    axis = axis % rank
    perm = [a for a in range(rank) if a != axis] + [axis]
    back = [perm.index(a) for a in range(rank)]
    moved = call("transpose", (inputs,), {"perm": perm})

    @custom_gradient
    def fit(x):
        signed = x if decreasing else -x
        rows = call("reshape", (signed, [-1, sizes_of(x)[-1]]), {})
        blocks = _blocks(rows)
        whole = call("reshape", (blocks, call("shape", (x,), {})), {})
        firsts = call("slice", (whole, [0] * rank, [-1] * (rank - 1) + [1]), {})
        numbers = call("subtract", (whole, firsts), {})

        def gradient(dy, _):
            return _averaged(dy, whole)

        return (_averaged(x, whole), numbers), gradient

    values, numbers = fit(moved)
    return call("transpose", (values,), {"perm": back}), call(
        "transpose", (numbers,), {"perm": back}
    )
