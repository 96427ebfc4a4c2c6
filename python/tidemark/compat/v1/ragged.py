"""``tf.compat.v1.ragged``: ``tf.ragged``, and ragged values outside of graphs."""

from __future__ import annotations

import numpy as _np

from tidemark import ragged as _ragged


class RaggedTensorValue:
    """A ragged value as arrays: values, which may be ragged again, and where rows begin."""

    def __init__(self, values, row_splits):
        if not isinstance(row_splits, (_np.ndarray, _np.generic)) or row_splits.dtype not in (
            _np.int64, _np.int32,
        ):  # fmt: skip
            raise TypeError("`row_splits` must be a NumPy array of int32 or int64")
        if not isinstance(values, (_np.ndarray, _np.generic, RaggedTensorValue)):
            raise TypeError("`values` must be a NumPy array or a RaggedTensorValue")
        self._values, self._row_splits = values, row_splits

    values = property(lambda self: self._values)
    row_splits = property(lambda self: self._row_splits)
    dtype = property(lambda self: self._values.dtype)

    @property
    def flat_values(self):
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensorValue) else values

    @property
    def nested_row_splits(self):
        values = self._values
        inner = values.nested_row_splits if isinstance(values, RaggedTensorValue) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self):
        return len(self.nested_row_splits)

    @property
    def shape(self):
        values = self._values.shape
        return (self._row_splits.shape[0] - 1, None, *values[1:])

    def to_list(self):
        """Lists of lists."""
        values = self._values
        flat = values.to_list() if isinstance(values, RaggedTensorValue) else values.tolist()
        splits = self._row_splits.tolist()
        return [flat[a:b] for a, b in zip(splits[:-1], splits[1:], strict=True)]

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"

    def __str__(self):
        return f"<tf.RaggedTensorValue {self.to_list()}>"


def __getattr__(name):
    return getattr(_ragged, name)
