"""Sparse tensors combined element by element: sums, maxima, functions of their values."""

from __future__ import annotations

import itertools

from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._graph.staged import python_call
from tidemark._graph.tracing import Structure, is_symbolic
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tidemark import Tensor, call, convert, fingerprint
from tidemark.debugging._checks import _require
from tidemark.errors import InvalidArgumentError
from tidemark.sparse._layout import as_sparse, flat_places, places_at, retain
from tidemark.sparse._tensor import SparseTensor, SparseTensorValue

_SPARSE = (SparseTensor, SparseTensorValue)


def _same_shape(a, b, what):
    def explain(first, second):
        shapes = f"{first.numpy().tolist()} and {second.numpy().tolist()}"
        return f"[sparse.{what}] operands' shapes do not match: {shapes}"

    if not a.dense_shape.shape.is_compatible_with(b.dense_shape.shape):
        raise InvalidArgumentError(
            None, None, f"[sparse.{what}] operands' shapes do not match: {a.shape} and {b.shape}"
        )
    same = call("equal", (a.dense_shape, b.dense_shape), {})
    _require(same, explain, a.dense_shape, b.dense_shape)


def _merged(parts, reduce):
    """Elements of several sparse tensors of one shape; those at one place are reduced to one."""
    dense_shape = parts[0].dense_shape
    flat = call("concat", ([flat_places(p.indices, dense_shape) for p in parts],), {"axis": 0})
    values = call("concat", ([p.values for p in parts],), {"axis": 0})
    order = call("argsort", (flat,), {"stable": True})
    flat, group = call("unique", (call("gather", (flat, order), {"axis": 0}),), {})
    values = call("gather", (values, order), {"axis": 0})
    count = call("size", (flat,), {})
    values = call(f"unsorted_segment_{reduce}", (values, group, count), {})
    return SparseTensor(places_at(flat, dense_shape), values, dense_shape)


@export("tf.sparse.add")
def add(a, b, threshold=0):
    """The sum; sparse if both are. Elements of it below the threshold are dropped."""
    if not isinstance(a, _SPARSE) and not isinstance(b, _SPARSE):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not isinstance(a, _SPARSE):
        a, b = b, a
    a = as_sparse(a)
    if not isinstance(b, _SPARSE):
        dense = convert_to_tensor(b)
        return call("tensor_scatter_nd_add", (dense, a.indices, a.values), {})
    b = as_sparse(b)
    _same_shape(a, b, "add")
    total = _merged([a, b], "sum")
    if threshold == 0:
        return total
    # An element that only one of them names is kept however small it is.
    ones = [p.with_values(call("ones_like", (p.values,), {"dtype": dtypes.int32})) for p in (a, b)]
    alone = call("equal", (_merged(ones, "sum").values, 1), {})
    return retain(total, call("logical_or", (alone, abs(total.values) >= threshold), {}))


def _extreme(sp_a, sp_b, op):
    a, b = as_sparse(sp_a), as_sparse(sp_b)
    _same_shape(a, b, op)
    # A place that only one of them names counts as zero in the other.
    zeros = [p.with_values(call("zeros_like", (p.values,), {"dtype": None})) for p in (a, b)]
    first, second = _merged([a, zeros[1]], "sum"), _merged([b, zeros[0]], "sum")
    return first.with_values(call(op, (first.values, second.values), {}))


@export("tf.sparse.maximum")
def maximum(sp_a, sp_b, name=None):
    """The larger of both at each place."""
    return _extreme(sp_a, sp_b, "maximum")


@export("tf.sparse.minimum")
def minimum(sp_a, sp_b, name=None):
    """The smaller of both at each place."""
    return _extreme(sp_a, sp_b, "minimum")


@export("tf.sparse.map_values")
@sized_when_run
def map_values(op, *args, **kwargs):
    """Calls a function with the values of the sparse tensors among its arguments."""
    found = [a for a in (*args, *kwargs.values()) if isinstance(a, SparseTensor)]
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    for other in found[1:]:
        _same_places(found[0], other)

    def of(value):
        return value.values if isinstance(value, SparseTensor) else value

    values = op(*(of(a) for a in args), **{name: of(a) for name, a in kwargs.items()})
    return SparseTensor(found[0].indices, values, found[0].dense_shape)


def _same_places(one, other):
    same = one.dense_shape.shape == other.dense_shape.shape
    same = same and one.indices.shape == other.indices.shape
    same = same and bool(call("all", (call("equal", (one.indices, other.indices), {}),), {}))
    if not same or one.dense_shape.numpy().tolist() != other.dense_shape.numpy().tolist():
        raise InvalidArgumentError(
            None, None, "[sparse.map_values] the sparse tensors differ in their places or shapes"
        )


@export("tf.sparse.mask")
def mask(a, mask_indices, name=None):
    """IndexedSlices without the rows of the given indices."""
    gone = convert(mask_indices, a.indices.dtype._enum)
    column = call("expand_dims", (a.indices,), {"axis": 1})
    named = call("any", (call("equal", (column, gone), {}),), {"axis": [1]})
    kept = call("logical_not", (named,), {})
    parts = [call("boolean_mask", (part, kept), {}) for part in (a.values, a.indices)]
    return IndexedSlices(*parts, a.dense_shape)


@export("tf.sparse.cross")
def cross(inputs, name=None, separator=None):
    """All combinations of one element of each column, row by row, joined as text."""
    joiner = "_X_" if separator is None else separator
    if not isinstance(joiner, (str, bytes)):
        joiner = convert(joiner).numpy()
    joiner = joiner if isinstance(joiner, bytes) else joiner.encode()

    def joined(parts):
        texts = [p if isinstance(p, bytes) else str(p).encode() for p in parts]
        return joiner.join(texts)

    return _crossed(inputs, joined, dtypes.string)


_MIX = 0xC6A4A7935BD1E995
_ALL = 2**64 - 1


def _shift_mix(value):
    return value ^ (value >> 47)


def _hash_both(first, second):
    """How TensorFlow joins two 64-bit fingerprints."""
    out = first ^ _MIX
    out ^= _shift_mix(second * _MIX & _ALL) * _MIX & _ALL
    out = out * _MIX & _ALL
    return _shift_mix(_shift_mix(out) * _MIX & _ALL)


@export("tf.sparse.cross_hashed")
def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """All combinations of one element of each column, row by row, hashed into buckets."""
    key = 0xDECAFCAFFE if hash_key is None else int(hash_key)
    bound = int(num_buckets) or 2**63 - 1

    def hashed(parts):
        out = key
        for part in parts:
            number = fingerprint(part) if isinstance(part, bytes) else int(part) & _ALL
            out = _hash_both(out, number)
        return out % bound

    return _crossed(inputs, hashed, dtypes.int64)


def _crossed(inputs, combine, dtype):
    """Rows of combinations as a sparse matrix."""
    structure, tensors = Structure.of(
        list(inputs), lambda leaf: leaf if isinstance(leaf, Tensor) else convert_to_tensor(leaf)
    )
    if any(is_symbolic(t) for t in tensors):

        def run(*given):
            found = _crossed(structure.pack(list(given)), combine, dtype)
            return found.indices, found.values, found.dense_shape

        types = [(dtypes.int64, (None, 2)), (dtype, (None,)), (dtypes.int64, (2,))]
        return SparseTensor(*python_call(run, tensors, types, has_effect=False))
    columns = [_rows(value) for value in inputs]
    count = len(columns[0]) if columns else 0
    if any(len(column) != count for column in columns):
        raise InvalidArgumentError(
            None, None, f"[sparse.cross] columns have {[len(c) for c in columns]} rows"
        )
    indices, values, widest = [], [], 0
    for row in range(count):
        combinations = itertools.product(*(column[row] for column in columns))
        made = [combine(parts) for parts in combinations]
        indices += [(row, i) for i in range(len(made))]
        values += made
        widest = max(widest, len(made))
    places = convert(indices, dtypes.int64._enum) if indices else call(
        "zeros_like", (convert([[0, 0]], dtypes.int64._enum)[:0],), {"dtype": None}
    )  # fmt: skip
    values = convert(values, dtype._enum) if values else convert([], dtype._enum)
    return SparseTensor(places, values, [count, widest])


def _rows(value):
    """The elements of a sparse, ragged or dense matrix as a list of lists."""
    if isinstance(value, _SPARSE):
        value = as_sparse(value)
        rows = [[] for _ in range(int(value.dense_shape[0]))]
        for (row, _), element in zip(value.indices.numpy(), value.values.numpy(), strict=True):
            rows[row].append(element)
        return rows
    if hasattr(value, "to_list"):
        return value.to_list()
    return convert_to_tensor(value).numpy().tolist()
