"""Sets along the last dimension of tensors: ``tf.sets``."""

from __future__ import annotations

import numpy as np

import tidemark
from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError


def _dense(value):
    """A dense tensor of sets."""
    value = convert_to_tensor(value)
    if value.dtype != dtypes.string and not value.dtype.is_integer:
        raise TypeError(f"tf.sets takes integers and strings, got {value.dtype}")
    return value


def _sparse(a, b, operation):
    if hasattr(a, "dense_shape") and not hasattr(b, "dense_shape"):
        raise TypeError(
            "tf.sets takes a sparse first set only with a sparse second one: swap them, or give "
            "tf.sparse.to_dense(a)"
        )
    if hasattr(b, "dense_shape"):
        return tidemark.SparseTensor(*_of_rows(*_parts(a), *_parts(b), operation))
    attrs = {"set_operation": operation}
    return tidemark.SparseTensor(*call("set_operation", (_dense(a), _dense(b)), attrs))


def _parts(value):
    """Indices, values and shape; a dense tensor of sets has neither of the outer ones."""
    if hasattr(value, "dense_shape"):
        return value.indices, value.values, value.dense_shape
    return None, _dense(value), None


def _sets(indices, values, shape):
    """The set of each row that has one, and the sizes before the last dimension."""
    array = np.asarray(values.numpy())
    sets = {}
    if indices is None:
        for at in np.ndindex(*array.shape[:-1]):
            sets[at] = set(array[at].tolist())
        return sets, list(array.shape[:-1])
    for at, value in zip(indices.numpy().tolist(), array.tolist(), strict=True):
        sets.setdefault(tuple(at[:-1]), set()).add(value)
    return sets, [int(n) for n in shape.numpy()[:-1]]


_OPERATIONS = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}


@sized_when_run(part_of="tf.sets")
def _of_rows(indices_a, values_a, shape_a, indices_b, values_b, shape_b, operation):
    """Indices, values and shape of the sets of each row."""
    if values_a.dtype != values_b.dtype:
        raise TypeError(f"Types should be equal, got {values_a.dtype} and {values_b.dtype}.")
    a, rows_a = _sets(indices_a, values_a, shape_a)
    b, rows_b = _sets(indices_b, values_b, shape_b)
    if rows_a != rows_b:
        raise InvalidArgumentError(
            None, None, f"[set_operation] sets of shapes {rows_a} and {rows_b} do not go together"
        )
    indices, values, widest = [], [], 0
    for at in sorted({*a, *b}):
        result = sorted(_OPERATIONS[operation](a.get(at, set()), b.get(at, set())))
        indices += [(*at, i) for i in range(len(result))]
        values += result
        widest = max(widest, len(result))
    table = np.array(indices, np.int64).reshape(len(indices), len(rows_a) + 1)
    kind = object if values_a.dtype == dtypes.string else values_a.dtype.as_numpy_dtype
    return (
        convert_to_tensor(table),
        convert_to_tensor(np.array(values, kind), dtype=values_a.dtype),
        convert_to_tensor(np.array([*rows_a, widest], np.int64)),
    )


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
