"""Sets along the last dimension of tensors: ``tf.sets``."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._creation import cast, convert_to_tensor
from tidemark._export import export
from tidemark._tidemark import call


def _rows(value):
    """A dense tensor of sets."""
    if not hasattr(value, "dense_shape"):
        value = convert_to_tensor(value)
        if value.dtype != dtypes.string and not value.dtype.is_integer:
            raise TypeError(f"tf.sets takes integers and strings, got {value.dtype}")
        return value
    raise TypeError("tf.sets takes dense tensors; tf.sparse.to_dense makes one of a sparse tensor")


def _sparse(a, b, operation):
    from tidemark import SparseTensor

    attrs = {"set_operation": operation}
    indices, values, shape = call("set_operation", (_rows(a), _rows(b)), attrs)
    return SparseTensor(indices, values, shape)


@export("tf.sets.difference")
def difference(a, b, aminusb=True, validate_indices=True):
    """The elements of each set of a that are not in that of b, as a SparseTensor."""
    return _sparse(a, b, "a-b" if aminusb else "b-a")


@export("tf.sets.intersection")
def intersection(a, b, validate_indices=True):
    """The elements of each set of a that are in that of b, as a SparseTensor."""
    return _sparse(a, b, "intersection")


@export("tf.sets.union")
def union(a, b, validate_indices=True):
    """The elements of each set of a and of that of b, as a SparseTensor."""
    return _sparse(a, b, "union")


@export("tf.sets.size")
def size(a, validate_indices=True):
    """How many distinct elements each set of a SparseTensor has."""
    if not hasattr(a, "dense_shape"):
        raise TypeError(f"Expected SparseTensor, got {a}.")
    shape = [int(n) for n in a.dense_shape.numpy()[:-1]]
    strides, count = [], 1
    for extent in reversed(shape):
        strides.insert(0, count)
        count *= extent
    indices = cast(a.indices, dtypes.int64)
    rows = call("sum", (indices[:, :-1] * convert_to_tensor(strides, dtypes.int64),), {"axis": [1]})
    distinct = {
        (row, value)
        for row, value in zip(rows.numpy().tolist(), a.values.numpy().tolist(), strict=True)
    }
    sizes = [0] * count
    for row, _ in distinct:
        sizes[row] += 1
    return call("reshape", (convert_to_tensor(sizes, dtype=dtypes.int32), shape), {})
