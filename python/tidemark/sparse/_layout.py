"""Sparse tensors in other shapes: from and to dense ones, reordered, reshaped, sliced, joined."""

from __future__ import annotations

import math
import operator

from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._graph.scopes import control_dependencies
from tidemark._tensor.creation import cast, convert_to_tensor, fill, get_static_value
from tidemark._tensor.static import known_rank
from tidemark._tidemark import call, convert, is_tracing
from tidemark.debugging._checks import _require
from tidemark.errors import InvalidArgumentError
from tidemark.sparse._tensor import SparseTensor, SparseTensorValue

_INT64 = dtypes.int64._enum


def as_sparse(value):
    """The value as a SparseTensor; TypeError if it is none."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, got {type(value).__name__}: {value!r}")
    return value


def strides_of(dense_shape):
    """How far apart, in elements, neighbours along each dimension lie."""
    return call("cumprod", (dense_shape,), {"axis": 0, "exclusive": True, "reverse": True})


def flat_places(indices, dense_shape):
    """The position of each element in the row-major order of a dense tensor."""
    return call("sum", (indices * strides_of(dense_shape),), {"axis": [-1]})


def places_at(flat, dense_shape):
    """The coordinates of positions in row-major order."""
    column = call("expand_dims", (flat,), {"axis": -1})
    wide = call("maximum", (dense_shape, 1), {})
    return column // strides_of(dense_shape) % wide


def zero_of(dtype):
    """What elements are that are not named: zero, False or the empty string."""
    if dtype is dtypes.string:
        return convert("", dtype._enum)
    return convert(False if dtype.is_bool else 0, dtype._enum)


def in_order(indices, values, dense_shape):
    """A sparse tensor with its elements brought into row-major order."""
    order = call("argsort", (flat_places(indices, dense_shape),), {"stable": True})
    taken = (call("gather", (part, order), {"axis": 0}) for part in (indices, values))
    return SparseTensor(*taken, dense_shape)


@export("tf.sparse.from_dense")
def from_dense(tensor, name=None):
    """The elements of a dense tensor that are not zero."""
    tensor = convert_to_tensor(tensor)
    there = call("not_equal", (tensor, zero_of(tensor.dtype)), {})
    indices = call("nonzero", (there,), {})
    values = call("gather_nd", (tensor, indices), {})
    return SparseTensor(indices, values, call("shape", (tensor,), {"out_type": _INT64}))


@export("tf.sparse.to_dense")
def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """A dense tensor; elements that are not named get the default value."""
    sparse = as_sparse(sp_input)
    if validate_indices:
        _check_order(sparse)
    default = zero_of(sparse.dtype)
    if default_value is not None:
        default = convert(default_value, sparse.dtype._enum)
    if sparse.dtype is dtypes.string:
        return _by_position(sparse, default)
    base = fill(sparse.dense_shape, default)
    dense = call("tensor_scatter_nd_update", (base, sparse.indices, sparse.values), {})
    dense.set_shape(sparse.shape)
    return dense


def _by_position(sparse, default):
    """As to_dense, for types that cannot be scattered: each element looks up its value."""
    count = call("size", (sparse.values,), {"out_type": _INT64})
    own = call("range", (convert(0, _INT64), count, convert(1, _INT64)), {})
    nowhere = fill(sparse.dense_shape, count)
    position = call("tensor_scatter_nd_update", (nowhere, sparse.indices, own), {})
    last = call("reshape", (default, (1,)), {})
    values = call("concat", ([sparse.values, last],), {"axis": 0})
    return call("gather", (values, position), {"axis": 0})


def _check_order(sparse):
    """Raises unless the places are inside, each named once, in row-major order."""
    flat = flat_places(sparse.indices, sparse.dense_shape)
    rows = call("greater_equal", (sparse.indices, 0), {})
    rows = call("logical_and", (rows, sparse.indices < sparse.dense_shape), {})
    _require(
        rows,
        lambda shape: (
            f"[sparse.to_dense] an index is out of bounds: the shape is {shape.numpy().tolist()}"
        ),
        sparse.dense_shape,
    )
    _require(
        flat[1:] > flat[:-1],
        lambda: (
            "[sparse.to_dense] an index is repeated or out of order: sort them with "
            "tf.sparse.reorder, or pass validate_indices=False"
        ),
    )


@export("tf.sparse.reorder")
def reorder(sp_input, name=None):
    """The same elements in row-major order."""
    sparse = as_sparse(sp_input)
    return in_order(*sparse._parts())


@export("tf.sparse.reshape")
def reshape(sp_input, shape, name=None):
    """The same elements under another shape; one size may be -1."""
    sparse = as_sparse(sp_input)
    wanted = cast(shape, dtypes.int64)
    sizes, given = get_static_value(wanted), get_static_value(sparse.dense_shape)
    if sizes is None or given is None:
        new_shape = _completed_when_run(wanted, sparse.dense_shape)
    else:
        try:
            new_shape = _complete(sizes.tolist(), math.prod(given.tolist()))
        except InvalidArgumentError as error:  # graphs are checked before the operation is made
            if 0 in sizes or not is_tracing():
                raise
            raise ValueError(error.message) from None
        new_shape = convert(new_shape, _INT64)
    flat = flat_places(sparse.indices, sparse.dense_shape)
    made = SparseTensor(places_at(flat, new_shape), sparse.values, new_shape)
    if sizes is not None:
        made.set_shape([None if size == -1 else size for size in sizes.tolist()])
    return made


def _completed_when_run(wanted, given):
    """The sizes, with one for -1, where they are known only when the graph runs."""
    total = call("prod", (given,), {})
    is_open = wanted < 0
    known = call("prod", (call("abs", (wanted,), {}),), {})  # -1 counts as 1
    sizes = call("select", (is_open, total // call("maximum", (known, 1), {}), wanted), {})
    fits = call("equal", (call("prod", (sizes,), {}), total), {})
    checked = _require(fits, lambda sizes, given: _complete_or_fail(sizes, given), wanted, given)
    with control_dependencies([] if checked is None else [checked]):
        return call("identity", (sizes,), {})


def _complete_or_fail(wanted, given):
    """What is wrong with the sizes, in words."""
    try:
        _complete(wanted.numpy().tolist(), math.prod(given.numpy().tolist()))
    except InvalidArgumentError as error:
        return error.message
    return "[sparse.reshape] the sizes do not fit"


def _complete(sizes, total):
    known = 1
    for size in sizes:
        known *= 1 if size == -1 else size
    if sizes.count(-1) > 1:
        raise InvalidArgumentError(
            None, None, "[sparse.reshape] At most one dimension can be inferred: only one output "
            f"dimension may be -1. Received: {sizes}",
        )  # fmt: skip
    if -1 in sizes and known and total % known == 0:
        return [total // known if size == -1 else size for size in sizes]
    if -1 in sizes or known != total:
        wanted = f"requires a multiple of {known}" if -1 in sizes else f"has {known}"
        raise InvalidArgumentError(
            None, None, f"[sparse.reshape] Cannot reshape to {sizes}: Input to reshape is a tensor "
            f"with {total} dense values, but the requested shape {wanted}",
        )  # fmt: skip
    return sizes


@export("tf.sparse.transpose")
@sized_when_run
def transpose(sp_input, perm=None, name=None):
    """Dimensions in another order; all of them reversed unless one is given."""
    sparse = as_sparse(sp_input)
    rank = known_rank(sparse)
    order = list(range(rank))[::-1] if perm is None else [int(axis) for axis in perm]
    indices = call("gather", (sparse.indices, order), {"axis": 1})
    dense_shape = call("gather", (sparse.dense_shape, order), {"axis": 0})
    return in_order(indices, sparse.values, dense_shape)


@export("tf.sparse.expand_dims")
@sized_when_run
def expand_dims(sp_input, axis=None, name=None):
    """With a new dimension of size one."""
    sparse = as_sparse(sp_input)
    rank = known_rank(sparse)
    axis = -1 if axis is None else operator.index(axis)
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis {axis} out of range [{-rank - 1}, {rank}]")
    axis = axis + rank + 1 if axis < 0 else axis
    column = call("zeros_like", (sparse.values,), {"dtype": dtypes.int64})
    if sparse.dtype is dtypes.string:
        column = fill(call("shape", (sparse.values,), {}), convert(0, _INT64))
    column = call("expand_dims", (column,), {"axis": 1})
    parts = [sparse.indices[:, :axis], column, sparse.indices[:, axis:]]
    indices = call("concat", (parts,), {"axis": 1})
    sizes = [sparse.dense_shape[:axis], convert([1], _INT64), sparse.dense_shape[axis:]]
    return SparseTensor(indices, sparse.values, call("concat", (sizes,), {"axis": 0}))


@export("tf.sparse.retain")
def retain(sp_input, to_retain):
    """The elements for which the mask is true."""
    sparse = as_sparse(sp_input)
    mask = convert(to_retain, dtypes.bool._enum)
    mask.shape.merge_with(sparse.values.shape)
    kept = (call("boolean_mask", (part, mask), {}) for part in (sparse.indices, sparse.values))
    return SparseTensor(*kept, sparse.dense_shape)


@export("tf.sparse.slice")
def slice(sp_input, start, size, name=None):
    """The elements of a box; places count from its start."""
    sparse = as_sparse(sp_input)
    start, size = cast(start, dtypes.int64), cast(size, dtypes.int64)
    inside = call("logical_and", (sparse.indices >= start, sparse.indices < start + size), {})
    kept = retain(sparse, call("all", (inside,), {"axis": [-1]}))
    room = call("maximum", (sparse.dense_shape - start, 0), {})
    return SparseTensor(kept.indices - start, kept.values, call("minimum", (size, room), {}))


@export("tf.sparse.split")
@sized_when_run
def split(sp_input=None, num_split=None, axis=None, name=None):
    """Cut into pieces along an axis; the first ones are larger if they cannot be equal."""
    if num_split is None or sp_input is None or axis is None:
        raise ValueError("num_split, sp_input and axis are required")
    sparse = as_sparse(sp_input)
    rank, axis = known_rank(sparse), operator.index(axis)
    axis = axis + rank if axis < 0 else axis
    sizes = sparse.dense_shape.numpy().tolist()
    if not 0 <= axis < rank:
        raise InvalidArgumentError(None, None, f"[sparse.split] axis {axis} of rank {rank}")
    if not 1 <= num_split <= sizes[axis]:
        raise InvalidArgumentError(
            None, None, f"[sparse.split] num_split {num_split} is not in [1, {sizes[axis]}]"
        )
    least, more = divmod(sizes[axis], num_split)
    pieces, begin = [], 0
    for piece in range(num_split):
        length = least + (piece < more)
        start = [begin if d == axis else 0 for d in range(rank)]
        pieces.append(slice(sparse, start, [*sizes[:axis], length, *sizes[axis + 1 :]]))
        begin += length
    return pieces


@export("tf.sparse.concat")
@sized_when_run
def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Joined along an axis; other sizes must agree, or the largest ones are taken."""
    inputs = [as_sparse(sp) for sp in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    rank = known_rank(inputs[0])
    axis = axis + rank if axis < 0 else axis
    shapes = [sp.dense_shape.numpy().tolist() for sp in inputs]
    sizes = [max(shape[d] for shape in shapes) for d in range(rank)]
    for shape in shapes:
        others = [shape[d] for d in range(rank) if d != axis]
        if not expand_nonconcat_dims and others != [s for d, s in enumerate(sizes) if d != axis]:
            raise InvalidArgumentError(
                None, None, f"[sparse.concat] shapes {shapes} differ in another axis than {axis}"
            )
    indices, begin = [], 0
    for sp, shape in zip(inputs, shapes, strict=True):
        offset = convert([begin if d == axis else 0 for d in range(rank)], _INT64)
        indices.append(sp.indices + offset)
        begin += shape[axis]
    sizes[axis] = begin
    joined = call("concat", (indices,), {"axis": 0})
    values = call("concat", ([sp.values for sp in inputs],), {"axis": 0})
    return in_order(joined, values, convert(sizes, _INT64))


@export("tf.sparse.reset_shape")
@sized_when_run
def reset_shape(sp_input, new_shape=None):
    """With another shape of the same rank; the tightest one unless it is given."""
    sparse = as_sparse(sp_input)
    if new_shape is None:
        last = call("max", (sparse.indices,), {"axis": [0]})
        empty = sparse.values.shape.num_elements() == 0
        tight = call("zeros_like", (sparse.dense_shape,), {"dtype": None}) if empty else last + 1
        return SparseTensor(sparse.indices, sparse.values, tight)
    sizes = convert(new_shape, _INT64)
    sizes.shape.assert_is_compatible_with(sparse.dense_shape.shape)
    if not call("all", (sparse.dense_shape <= sizes,), {}):
        raise ValueError(
            f"New sparse tensor shape should have dimension sizes >= those of the sparse tensor. "
            f"Received: {sizes.numpy().tolist()} for {sparse.dense_shape.numpy().tolist()}"
        )
    return SparseTensor(sparse.indices, sparse.values, sizes)


@export("tf.sparse.eye")
@sized_when_run
def eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """Ones on the diagonal."""
    columns = num_rows if num_columns is None else num_columns
    count = min(int(num_rows), int(columns))
    diagonal = call("range", (convert(0, _INT64), count, 1), {})
    indices = call("stack", ([diagonal, diagonal],), {"axis": 1})
    ones = fill([count], convert(1, dtypes.as_dtype(dtype)._enum))
    return SparseTensor(indices, ones, [int(num_rows), int(columns)])


@export("tf.sparse.to_indicator")
def to_indicator(sp_input, vocab_size, name=None):
    """Whether each number below ``vocab_size`` is among the values along the last dimension."""
    sparse = as_sparse(sp_input)
    if not sparse.dtype.is_integer:
        raise TypeError(f"sp_input must have integer values, got {sparse.dtype.name}")
    column = call("expand_dims", (cast(sparse.values, dtypes.int64),), {"axis": 1})
    indices = call("concat", ([sparse.indices[:, :-1], column],), {"axis": 1})
    last = convert([vocab_size], _INT64)
    sizes = call("concat", ([sparse.dense_shape[:-1], last],), {"axis": 0})
    false = fill(sizes, convert(False, dtypes.bool._enum))
    true = fill(call("shape", (sparse.values,), {}), convert(True, dtypes.bool._enum))
    return call("tensor_scatter_nd_update", (false, indices, true), {})


@export("tf.sparse.fill_empty_rows")
@sized_when_run
def fill_empty_rows(sp_input, default_value, name=None):
    """Rows without an element get one at their start; also which rows those were."""
    sparse = as_sparse(sp_input)
    default = convert(default_value, sparse.dtype._enum)
    there = fill(sparse.dense_shape[:1], convert(False, dtypes.bool._enum))
    true = fill(call("shape", (sparse.values,), {}), convert(True, dtypes.bool._enum))
    there = call("tensor_scatter_nd_update", (there, sparse.indices[:, :1], true), {})
    empty = call("logical_not", (there,), {})
    which = call("nonzero", (empty,), {})
    zeros = call("pad", (which, [[0, 0], [0, known_rank(sparse) - 1]], 0), {})
    indices = call("concat", ([sparse.indices, zeros],), {"axis": 0})
    added = fill(call("shape", (which,), {})[:1], default)
    values = call("concat", ([sparse.values, added],), {"axis": 0})
    # By row alone: elements of one row stay in the order they are in.
    order = call("argsort", (indices[:, 0],), {"stable": True})
    parts = (call("gather", (part, order), {"axis": 0}) for part in (indices, values))
    return SparseTensor(*parts, sparse.dense_shape), empty
