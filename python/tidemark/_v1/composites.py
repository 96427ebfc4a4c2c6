"""What a session gives for tensors of several parts: their parts as arrays, by name."""

from __future__ import annotations

import collections

import numpy as np

import tidemark as tf
from tidemark.sparse._tensor import SparseTensorValue

IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", "values indices dense_shape")


class RaggedTensorValue:
    """The value of a ragged tensor: arrays of the values and of where rows begin."""

    def __init__(self, values, row_splits):
        given = getattr(row_splits, "dtype", None)
        if given not in (np.int64, np.int32) or row_splits.ndim != 1:
            raise TypeError(
                f"row_splits must be a 1D int32 or int64 numpy array, but it is {row_splits!r}"
            )
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError(
                f"values must be a numpy array or a RaggedTensorValue, but it is {values!r}"
            )
        if isinstance(values, RaggedTensorValue) and values.row_splits.dtype != given:
            raise ValueError(
                "row_splits and values.row_splits must have the same dtype, but they have "
                f"{given} and {values.row_splits.dtype}"
            )
        self._values, self._row_splits = values, row_splits

    values = property(lambda self: self._values)
    row_splits = property(lambda self: self._row_splits)
    dtype = property(lambda self: self._values.dtype)

    @property
    def flat_values(self):
        """The innermost values."""
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self):
        """The row splits of every ragged dimension, outermost first."""
        inner = self._values
        deeper = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return (self._row_splits, *deeper)

    @property
    def ragged_rank(self):
        """How many dimensions are ragged."""
        return len(self.nested_row_splits)

    @property
    def shape(self):
        """The sizes; None where rows differ."""
        return (self._row_splits.shape[0] - 1, None, *self._values.shape[1:])

    def to_list(self):
        """The values in lists of lists."""
        inner = self._values
        rows = inner.to_list() if isinstance(inner, RaggedTensorValue) else inner.tolist()
        ends = self._row_splits.tolist()
        return [rows[begin:end] for begin, end in zip(ends, ends[1:], strict=False)]

    def __str__(self):
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"


def parts_of(tensor):
    """The tensors that a sparse or ragged tensor, slices or the value of one are made of."""
    if isinstance(tensor, (tf.RaggedTensor, RaggedTensorValue)):
        return [tensor.flat_values, *tensor.nested_row_splits]
    if isinstance(tensor, (tf.IndexedSlices, IndexedSlicesValue)):
        return [tensor.values, tensor.indices, tensor.dense_shape]
    return [tensor.indices, tensor.values, tensor.dense_shape]


def value_of(tensor, parts):
    """The value of a tensor whose parts, in the order of `parts_of`, have these values."""
    if isinstance(tensor, tf.RaggedTensor):
        value, *splits = parts
        value = np.asarray(value)
        for one in reversed(splits):
            value = RaggedTensorValue(value, one)
        return value
    kind = IndexedSlicesValue if isinstance(tensor, tf.IndexedSlices) else SparseTensorValue
    return kind(*parts)


def has_parts(tensor):
    """Whether `parts_of` and `value_of` are for it."""
    return isinstance(tensor, (tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices))
