"""How far sequences are from one another, and sequences made monotone."""

from __future__ import annotations

import numpy as np

from tidemark import dtypes
from tidemark._at_run import sized_when_run
from tidemark._creation import convert_to_tensor
from tidemark._custom_gradient import custom_gradient
from tidemark._export import export
from tidemark._static import sizes_of
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError


def _rows(indices, values):
    """The values of each row of a sparse tensor, by its place."""
    rows = {}
    for at, value in zip(indices.tolist(), values.tolist(), strict=True):
        rows.setdefault(tuple(at[:-1]), []).append(value)
    return rows


def _distance(a, b):
    """The fewest insertions, deletions and replacements that turn a into b."""
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


@export("tf.edit_distance")
def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """The Levenshtein distance of each pair of sequences, the rows of two SparseTensors; divided by
    the length of the truth with ``normalize``."""
    for what in (hypothesis, truth):
        if not hasattr(what, "dense_shape"):
            raise TypeError(f"Expected SparseTensor, got {what!r}")
    if hypothesis.dtype != truth.dtype:
        raise TypeError(
            f"hypothesis is {hypothesis.dtype.name} and truth {truth.dtype.name}; they must be of "
            "one dtype"
        )
    return _distances(hypothesis.indices, hypothesis.values, hypothesis.dense_shape,
                      truth.indices, truth.values, truth.dense_shape, bool(normalize))  # fmt: skip


@sized_when_run(part_of="tf.edit_distance")
def _distances(*parts):
    *parts, normalize = parts
    at_a, a, shape_a, at_b, b, shape_b = (np.asarray(p.numpy()) for p in parts)
    if shape_a.shape != shape_b.shape or len(shape_a) < 2:
        raise InvalidArgumentError(
            None, None,
            "[edit_distance] hypothesis and truth must have one rank of at least 2; given shapes "
            f"{shape_a.tolist()} and {shape_b.tolist()}",
        )  # fmt: skip
    out = np.zeros(np.maximum(shape_a, shape_b)[:-1].tolist(), np.float32)
    first, second = _rows(at_a, a), _rows(at_b, b)
    for place in {*first, *second}:
        x, y = first.get(place, []), second.get(place, [])
        distance = float(_distance(x, y))
        if normalize:
            distance = distance / len(y) if y else (np.inf if x else 0.0)
        out[place] = distance
    return convert_to_tensor(out)


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
        inputs = call("cast", (inputs,), {"dtype": dtypes.float32})
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
