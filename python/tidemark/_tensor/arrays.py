"""Ops on arrays whose Python signature differs from the op's: split, gather, where, pad, …"""

from __future__ import annotations

import collections

from tidemark import _tidemark, dtypes
from tidemark._export import dispatching, export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import (
    cast,
    check_one_dtype,
    convert_to_tensor,
    get_static_value,
    shape_tensor,
)
from tidemark._tensor.static import sizes_of, static_array, static_ints
from tidemark._tidemark import Tensor, call, convert, is_symbolic
from tidemark.dtypes import as_dtype
from tidemark.errors import InvalidArgumentError
from tidemark.tensor_shape import TensorShape, as_shape, broadcast_shape

TopKV2 = collections.namedtuple("TopKV2", ["values", "indices"])
Unique = collections.namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = collections.namedtuple("UniqueWithCounts", ["y", "idx", "count"])


# --- shape and identity --------------------------------------------------------------------------


@export("tf.shape_n")
def shape_n(input, out_type=dtypes.int32, name=None):
    """The shapes of several tensors."""
    return [call("shape", (t,), {"out_type": as_dtype(out_type)._enum}) for t in input]


@export("tf.identity_n")
def identity_n(input, name=None):
    """The tensors themselves, as a list."""
    return [call("identity", (t,), {}) for t in input]


@export("tf.ensure_shape")
def ensure_shape(x, shape, name=None):
    """The tensor itself, if its shape is compatible with the given one."""
    x = convert_to_tensor(x)
    if not x.shape.is_compatible_with(shape):
        raise InvalidArgumentError(
            None,
            None,
            f"[ensure_shape] Shape of tensor input {_brackets(x.shape)} is not compatible with "
            f"expected shape {_brackets(as_shape(shape))}.",
        )
    shape = as_shape(shape)
    if not is_symbolic(x) or shape.rank is None:
        return x
    checked = call("ensure_shape", (x,), {"shape": [-1 if d is None else d for d in shape]})
    checked.set_shape(x.shape.merge_with(shape))
    return checked


def _brackets(shape):
    return str(["?" if d is None else d for d in shape]).replace(" ", "").replace("'", "")


@export("tf.broadcast_static_shape")
def broadcast_static_shape(shape_x, shape_y):
    """The shape two shapes broadcast together to."""
    try:
        return broadcast_shape(shape_x, shape_y)
    except ValueError:
        raise ValueError(
            "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension "
            f"pair they are either equal or one of them is 1. Received: {as_shape(shape_x)} and "
            f"{as_shape(shape_y)}."
        ) from None


@export("tf.broadcast_dynamic_shape")
@sized_when_run
def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape two shapes, given as tensors, broadcast together to, as a tensor."""
    x, y = shape_tensor(shape_x), shape_tensor(shape_y)
    for vector in (x, y):
        if vector.shape.rank is None:
            vector.set_shape([None])
    try:
        both = broadcast_shape(x.numpy().tolist(), y.numpy().tolist())
    except ValueError as error:
        raise InvalidArgumentError(None, None, f"[broadcast_dynamic_shape] {error}") from None
    wide = dtypes.int64 in (x.dtype, y.dtype)
    return convert(both.as_list(), (dtypes.int64 if wide else dtypes.int32)._enum)


# --- taking and putting --------------------------------------------------------------------------


@export("tf.where")
@dispatching
def where(condition, x=None, y=None, name=None):
    """``x`` where the condition is true, ``y`` elsewhere; without both, where it is true."""
    if x is None and y is None:
        condition = convert_to_tensor(condition)
        if not condition.dtype.is_bool:
            zero = "" if condition.dtype is dtypes.string else 0
            condition = call("not_equal", (condition, zero), {})
        return call("nonzero", (condition,), {})
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    check_one_dtype("SelectV2", x, y)
    return call("select", (condition, x, y), {})


@export("tf.strided_slice")
def strided_slice(
    input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
    shrink_axis_mask=0, var=None, name=None,
):  # fmt: skip
    """Python's slices along each dimension; bit i of a mask is about the i-th of them."""
    begin = shape_tensor(begin)
    if strides is None:
        strides = (1,) * begin._shape_tuple()[0]
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    inputs = (input_, begin, shape_tensor(end), shape_tensor(strides))
    return call("strided_slice", inputs, masks)


# --- splitting and joining -----------------------------------------------------------------------


def _equal_pieces(value, count, axis):
    if count < 1:
        raise ValueError(f"Must be at least 1 piece to split into, got {count}")
    return call("split", (value,), {"num": int(count), "axis": axis})


@export("tf.split")
def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """Pieces of equal size along an axis, or of the given sizes; one size may be -1."""
    value = convert_to_tensor(value)
    if isinstance(num_or_size_splits, int):
        return _equal_pieces(value, num_or_size_splits, axis)
    if _tidemark.is_symbolic(num_or_size_splits) and get_static_value(num_or_size_splits) is None:
        return _split_by_tensor(value, num_or_size_splits, int(axis), num)
    sizes = static_array(num_or_size_splits, "num_or_size_splits")
    if sizes.dtype.kind not in "iu" and sizes.size:
        raise TypeError(
            f"num_or_size_splits is a number or a list of sizes, got {num_or_size_splits!r}"
        )
    if sizes.ndim == 1 and value._is_symbolic and _is_open(value, int(axis)):
        return _split_by_tensor(value, convert_to_tensor(sizes), int(axis), num)
    sizes = sizes.tolist()
    if isinstance(sizes, int):
        return _equal_pieces(value, sizes, int(axis))
    if num is not None and num != len(sizes):
        raise ValueError(f"num is {num}, but {len(sizes)} sizes are given: {sizes}")
    attrs = {"num": len(sizes), "axis": int(axis), "sizes": sizes}
    return call("split", (value,), attrs) if sizes else []


def _is_open(value, axis):
    """Whether the size along an axis, one that the tensor has, is unknown."""
    if value.ndim is None:
        return True
    return -value.ndim <= axis < value.ndim and value.shape[axis] is None


def _split_by_tensor(value, sizes, axis, num):
    """Pieces whose sizes only the run of the graph tells."""
    count = num if num is not None else sizes.shape[0] if sizes.ndim == 1 else None
    if count is None:
        raise ValueError(
            f"Cannot infer argument `num` from shape {sizes.shape}: the number of pieces must be "
            "known while the function is traced: pass num"
        )
    sizes = call("cast", (sizes,), {"dtype": dtypes.int32._enum})
    rank = call("rank", (value,), {}) if value.ndim is None else value.ndim
    axis = axis + rank if axis < 0 else axis
    around = convert_to_tensor([[axis, rank - axis - 1]])
    begins = call("cumsum", (sizes,), {"axis": 0, "exclusive": True})
    pieces = []
    for i in range(count):
        begin, size = (call("reshape", (t[i], (1,)), {}) for t in (begins, sizes))
        begin = call("pad", (begin, around, 0), {})
        size = call("pad", (size + 1, around, 0), {}) - 1  # all of the other axes
        pieces.append(call("slice", (value, begin, size), {}))
    return pieces


@export("tf.unstack")
def unstack(value, num=None, axis=0, name="unstack"):
    """The slices along an axis as a list of tensors of one dimension less."""
    value = convert_to_tensor(value)
    if num is None:
        rank = value.ndim
        if not -rank <= axis < rank:
            raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
        num = value._shape_tuple()[axis]
        if num == 0:
            return []
    return call("unstack", (value,), {"num": int(num), "axis": int(axis)})


@export("tf.pad")
def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """The tensor with elements added before and after along each dimension."""
    tensor = convert_to_tensor(tensor)
    upper = mode.upper()
    if upper not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or '
            f'"SYMMETRIC". Received `mode` = {mode}'
        )
    if not isinstance(constant_values, Tensor):
        if tensor.dtype is dtypes.string and constant_values == 0:
            constant_values = ""
        elif tensor.dtype.is_bool:
            constant_values = bool(constant_values)
        constant_values = convert(constant_values, tensor._dtype_enum)
    return call("pad", (tensor, paddings, constant_values), {"mode": upper})


@export("tf.meshgrid")
def meshgrid(*args, **kwargs):
    """Coordinate matrices of coordinate vectors; ``indexing="xy"`` swaps the first two axes."""
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    vectors = [call("reshape", (v, (-1,)), {}) for v in map(convert_to_tensor, args)]
    sizes = [sizes_of(v)[0] for v in vectors]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        order[:2] = [1, 0]
    full = [sizes[i] for i in order]
    grids = []
    for position, vector in enumerate(vectors):
        shape = [1] * len(vectors)
        shape[order.index(position)] = -1
        grids.append(call("broadcast_to", (call("reshape", (vector, shape), {}), full), {}))
    return grids


# --- order ---------------------------------------------------------------------------------------


@export("tf.math.top_k", "tf.nn.top_k")
def top_k(input, k=1, sorted=True, index_type=dtypes.int32, name=None):
    """The ``k`` largest values along the last axis, and where they are."""
    attrs = {"sorted": bool(sorted), "index_type": as_dtype(index_type)._enum}
    return TopKV2(*call("top_k", (input, k), attrs))


@export("tf.unique")
def unique(x, out_idx=dtypes.int32, name=None):
    """The distinct values in order of appearance, and which of them each value is."""
    return Unique(*call("unique", (x,), {"out_idx": as_dtype(out_idx)._enum})[:2])


@export("tf.unique_with_counts")
def unique_with_counts(x, out_idx=dtypes.int32, name=None):
    """As unique, and how often each distinct value is there."""
    attrs = {"out_idx": as_dtype(out_idx)._enum}
    return UniqueWithCounts(*call("unique_with_counts", (x,), attrs))


@export("tf.sequence_mask")
def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool, name=None):
    """Rows that are true at the first ``lengths[i]`` places."""
    lengths = convert_to_tensor(lengths)
    if maxlen is not None and convert_to_tensor(maxlen).shape.rank not in (None, 0):
        raise ValueError(f"Argument `maxlen` must be scalar for sequence_mask, received {maxlen!r}")
    zero = convert(0, lengths._dtype_enum)
    if maxlen is None:
        flat = call("reshape", (lengths, [-1]), {})
        nothing = call("reshape", (zero, [1]), {})
        maxlen = call("max", (call("concat", (flat, nothing), {"axis": 0}),), {"axis": [0]})
    places = call("range", (zero, cast(maxlen, lengths.dtype), 1), {})
    mask = call("less", (places, call("expand_dims", (lengths,), {"axis": -1})), {})
    return mask if as_dtype(dtype).is_bool else cast(mask, dtype)


@export("tf.unravel_index")
@sized_when_run
def unravel_index(indices, dims, name=None):
    """The coordinates that flat indices have in a tensor with the given sizes."""
    sizes = static_ints(dims, "dims")
    indices = convert_to_tensor(indices)
    count = TensorShape(sizes).num_elements()
    flat = get_static_value(indices)  # those of a graph are not known yet
    if flat is not None and flat.size and (flat.min() < 0 or flat.max() >= count):
        raise InvalidArgumentError(
            None, None, f"[unravel_index] index is out of bound as with dims {sizes}"
        )
    coordinates = []
    for size in reversed(sizes):
        coordinates.append(call("floormod", (indices, size), {}))
        indices = call("floordiv", (indices, size), {})
    return call("stack", coordinates[::-1], {"axis": 0})


_MOST_PARTITIONS = 1 << 16  # each is a tensor of its own, made by a pass over the data


@export("tf.dynamic_partition")
@sized_when_run
def dynamic_partition(data, partitions, num_partitions, name=None):
    """The slices of ``data`` sorted into lists by the number each of them has."""
    if not 1 <= num_partitions <= _MOST_PARTITIONS:
        raise InvalidArgumentError(
            None, None,
            f"[dynamic_partition] num_partitions must be 1 to {_MOST_PARTITIONS}; {num_partitions} "
            "was given. For more groups use tf.ragged.stack_dynamic_partitions, one tensor for all",
        )  # fmt: skip
    data, partitions = convert_to_tensor(data), convert_to_tensor(partitions)
    numbers = get_static_value(partitions)  # those of a graph are not known yet
    if (
        numbers is not None
        and numbers.size
        and not 0 <= numbers.min() <= numbers.max() < num_partitions
    ):
        raise InvalidArgumentError(
            None, None, f"[dynamic_partition] partitions must be in [0, {num_partitions})"
        )
    return [
        call("boolean_mask", (data, call("equal", (partitions, number), {})), {})
        for number in range(num_partitions)
    ]
