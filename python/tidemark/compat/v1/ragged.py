"""``tf.compat.v1.ragged``: ragged tensors that sessions take and give."""

from __future__ import annotations

import numpy as _np

from tidemark import dtypes as _dtypes
from tidemark import ragged as _ragged
from tidemark._v1.composites import RaggedTensorValue
from tidemark._v1.names import placeholder as _placeholder
from tidemark.ragged._tensor import RaggedTensor as _RaggedTensor

__all__ = ["RaggedTensorValue", "constant_value", "placeholder"]


def constant_value(pylist, dtype=None, ragged_rank=None, inner_shape=None,
                   row_splits_dtype="int64"):  # fmt: skip
    """Nested lists of different lengths as the value of a ragged tensor."""
    kind = _dtypes.as_dtype(row_splits_dtype).as_numpy_dtype
    splits, inner = [], pylist
    depth = _depth(pylist) - 1 - len(inner_shape or ()) if ragged_rank is None else ragged_rank
    for _ in range(max(depth, 0)):
        lengths = [len(row) for row in inner]
        splits.append(_np.concatenate([[0], _np.cumsum(lengths)]).astype(kind))
        inner = [item for row in inner for item in row]
    value = _np.array(inner, dtype)
    if inner_shape is not None:
        value = value.reshape([-1, *inner_shape])
    for one in reversed(splits):
        value = RaggedTensorValue(value, one)
    return value


def _depth(value):
    if not isinstance(value, (list, tuple)):
        return _np.ndim(value)
    return 1 + max((_depth(item) for item in value), default=0)


def placeholder(dtype, ragged_rank, value_shape=None, name=None):
    """A ragged tensor that is given a value when the graph runs."""
    if ragged_rank == 0:
        return _placeholder(dtype, value_shape, name)
    shape = None if value_shape is None else [None, *value_shape]
    made = _placeholder(dtype, shape, name)
    for _ in range(ragged_rank):
        made = _RaggedTensor.from_row_splits(
            made, _placeholder(_dtypes.int64, [None]), validate=False
        )
    return made


def __getattr__(name):
    return getattr(_ragged, name)
