"""What a mapped function gives, gathered over its elements: dense, ragged or sparse tensors.

A column takes one leaf of the results. It keeps arrays that flow through the loop, writes an
element into them, and makes a tensor with one more axis of them at the end.
"""

from __future__ import annotations

import tidemark
from tidemark import dtypes
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.specs import TypeSpec
from tidemark._tensor.tensor_array import TensorArray
from tidemark._tidemark import call


def _int64(value):
    return cast(convert_to_tensor(value), dtypes.int64)


def _array(dtype, length, shape=None, uneven=False):
    return TensorArray(dtype, size=length, element_shape=shape, infer_shape=not uneven)


class _Dense:
    """Tensors of one shape, stacked."""

    def __init__(self, dtype, shape):
        self.dtype, self._shape = dtype, shape

    def arrays(self, length):
        return (_array(self.dtype, length, self._shape),)

    def write(self, arrays, index, value):
        return (arrays[0].write(index, value),)

    def result(self, arrays, count):
        value = arrays[0].stack()
        if count is not None and value.shape.rank is not None:
            value.set_shape([count, *value.shape.as_list()[1:]])
        return value


class _Ragged:
    """Tensors whose sizes differ: the rows of a tensor with one more ragged dimension."""

    def __init__(self, spec):
        self.dtype, self._splits_dtype = spec.dtype, spec.row_splits_dtype
        self._rank = spec.ragged_rank
        rank = spec.shape.rank
        self._inner = None if rank is None else [None, *spec.shape.as_list()[self._rank + 1 :]]

    def arrays(self, length):
        """Of the flat values, of the number of rows, and of the lengths at each level inside."""
        inside = (_array(dtypes.int64, length, [None], uneven=True) for _ in range(self._rank))
        flat = _array(self.dtype, length, self._inner, uneven=True)
        return (flat, _array(dtypes.int64, length, []), *inside)

    def write(self, arrays, index, value):
        if self._rank and not hasattr(value, "nested_row_lengths"):
            value = tidemark.RaggedTensor.from_tensor(value, ragged_rank=self._rank)
        if self._rank:
            flat, inside = value.flat_values, value.nested_row_lengths()
            rows = value.nrows()
        else:
            flat, inside, rows = value, (), call("shape", (value,), {})[0]
        parts = (flat, _int64(rows), *map(_int64, inside))
        return tuple(array.write(index, part) for array, part in zip(arrays, parts, strict=True))

    def result(self, arrays, count):
        flat, rows, *inside = arrays
        lengths = [rows.stack(), *(array.concat() for array in inside)]
        lengths = [cast(length, self._splits_dtype) for length in lengths]
        if count is not None:
            lengths[0].set_shape([count])
        made = tidemark.RaggedTensor.from_nested_row_lengths
        return made(flat.concat(), lengths, validate=False)


class _Sparse:
    """Sparse tensors of one rank: each holds the numbers of one row."""

    def __init__(self, spec):
        self.dtype, self._rank = spec.dtype, spec.shape.rank

    def arrays(self, length):
        width = None if self._rank is None else self._rank + 1
        return (
            _array(dtypes.int64, length, [None, width], uneven=True),
            _array(self.dtype, length, [None], uneven=True),
            _array(dtypes.int64, length, [self._rank]),
        )

    def write(self, arrays, index, value):
        places = call("shape", (value.values,), {})
        row = call("fill", (places, _int64(index)), {})
        row = call("expand_dims", (row,), {"axis": 1})
        indices = call("concat", ([row, value.indices],), {"axis": 1})
        parts = (indices, value.values, value.dense_shape)
        return tuple(array.write(index, part) for array, part in zip(arrays, parts, strict=True))

    def result(self, arrays, count):
        indices, values, shapes = arrays
        shapes = shapes.stack()
        rows = call("shape", (shapes,), {"out_type": dtypes.int64})[:1]
        largest = call("max", (shapes,), {"axis": [0]})
        sizes = call("concat", ([rows, largest],), {"axis": 0})
        return tidemark.SparseTensor(indices.concat(), values.concat(), sizes)


def column_of(kind):
    """The column for what a specification, or what names a dtype, announces."""
    if not isinstance(kind, TypeSpec):
        return _Dense(dtypes.as_dtype(kind), None)
    if hasattr(kind, "ragged_rank"):
        return _Ragged(kind)
    if kind.value_type.__name__ == "SparseTensor":
        return _Sparse(kind)
    return _Dense(kind.dtype, kind.shape)


def row_spec(leaf):
    """What an element of a tensor is, if nothing is said of what is made of it."""
    spec = getattr(leaf, "_type_spec", None)
    if spec is None:
        return leaf.dtype
    if not hasattr(spec, "ragged_rank"):
        return tidemark.SparseTensorSpec(spec.shape[1:], spec.dtype)
    return tidemark.RaggedTensorSpec(
        spec.shape[1:], spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype
    )
