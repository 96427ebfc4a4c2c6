"""How far sequences are from one another: ``tf.edit_distance``."""

from __future__ import annotations

import numpy as np

from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import convert_to_tensor
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
