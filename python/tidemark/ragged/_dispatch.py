"""How functions written for dense tensors take ragged ones.

A function that cannot convert an argument asks its type; ``answer`` looks the function up by name.
Elementwise ones work on the innermost values; the others here say themselves what they do.
"""

from __future__ import annotations

import inspect

import numpy as np

import tidemark as tf
from tidemark import dtypes
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.elementwise import tensors_of_elementwise
from tidemark._tensor.static import get_static_value
from tidemark._tidemark import Tensor, call, convert
from tidemark.ragged import _gathering, _reducing
from tidemark.ragged._converting import places_of_values
from tidemark.ragged._functions import map_flat_values, of_same_rows, stack
from tidemark.ragged._indexing import _expanded, take
from tidemark.ragged._tensor import RaggedTensor, _length, as_values, length_of

# Functions that take more than elements but work on each of the first argument by itself.
_OF_VALUES = frozenset(
    ("check_numerics", "dropout", "join", "one_hot", "regex_full_match", "regex_replace",
     "unicode_script", "unicode_transcode")
)  # fmt: skip


def answer(function, args, kwargs):
    """What a function makes of arguments with ragged tensors among them."""
    name = function.__name__
    kwargs = {k: v for k, v in kwargs.items() if k != "name"}
    tensors = tensors_of_elementwise(function)
    if tensors == 2:
        return binary(function, args, kwargs)
    if tensors or name in _OF_VALUES:
        return map_flat_values(function, *args, **kwargs)
    handler = _HANDLERS.get(name)
    if handler is None:
        return NotImplemented
    try:
        bound = inspect.signature(handler).bind(*args, **kwargs)
    except TypeError:
        return NotImplemented
    return handler(*bound.args, **bound.kwargs)


# --- elementwise ---------------------------------------------------------------------------------


def binary(function, args, kwargs):
    """Two arguments, broadcast together."""
    names = list(inspect.signature(function).parameters)[:2]
    x, y = (args[i] if i < len(args) else kwargs.get(names[i]) for i in range(2))
    if isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor):
        if x.ragged_rank != y.ragged_rank:
            return _other_depths(function, x, y)
        return of_same_rows(x, y).with_flat_values(function(x.flat_values, y.flat_values))
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(function(x.flat_values, _at_values(x, y)))
    return y.with_flat_values(function(_at_values(y, x), y.flat_values))


def _other_depths(function, x, y):
    """One of both has more ragged dimensions; the rows of the other are repeated inside."""
    if x.ragged_rank > y.ragged_rank:
        return x.with_values(function(x.values, take(y, x.value_rowids())))
    return y.with_values(function(take(x, y.value_rowids()), y.values))


def _at_values(ragged, dense):
    """A dense tensor, broadcast to the shape of a ragged one, at each of its innermost values."""
    if isinstance(dense, (int, float, bool, str, bytes)):
        return dense
    dense = convert_to_tensor(dense)
    depth = ragged.ragged_rank + 1
    inner = ragged.flat_values.shape.rank - 1
    rank = dense.shape.rank
    if rank <= inner:
        return dense
    sizes = [1] * (depth + inner - rank) + dense.shape.as_list()
    dense = call("reshape", (dense, sizes), {})
    places = []
    for axis, place in enumerate(places_of_values(ragged)):
        places.append(place * 0 if sizes[axis] == 1 else place)
    return call("gather_nd", (dense, call("stack", (places,), {"axis": 1})), {})


# --- joining and taking --------------------------------------------------------------------------


def concat(values, axis):
    """Joined along an axis; the result is ragged."""
    values = [as_values(v) for v in values]
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    if not isinstance(axis, (int, np.integer)):
        axis = get_static_value(axis) if isinstance(axis, Tensor) else axis
        if not isinstance(axis, (int, np.integer, np.ndarray)):
            raise TypeError(f"axis must be an int, got {axis!r}")
    rank = next((v.shape.rank for v in values if v.shape.rank is not None), None)
    axis = int(axis)
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    if len(values) == 1:
        return values[0]
    axis = axis + rank if axis < 0 else axis
    if not any(isinstance(v, RaggedTensor) for v in values) and axis == 0:
        values = [_deepened(v, 1) for v in values]
    values = _as_deep(values)
    if axis == 0:
        lengths = [v.row_lengths() for v in values]
        inner = [v.values for v in values]
        if any(isinstance(v, RaggedTensor) for v in inner):
            joined = concat(inner, 0)
        else:
            joined = call("concat", (inner,), {"axis": 0})
        rows = call("concat", (lengths,), {"axis": 0})
        return RaggedTensor.from_row_lengths(joined, rows, validate=False)
    if axis == 1:
        return _side_by_side(values)
    inner = [v.values for v in values]
    if any(isinstance(v, RaggedTensor) for v in inner):
        return values[0].with_values(concat(inner, axis - 1))
    return values[0].with_values(call("concat", (inner,), {"axis": axis - 1}))


def _as_deep(values):
    """All as ragged as the most ragged of them."""
    depth = max(getattr(v, "ragged_rank", 0) for v in values)
    return [_deepened(v, depth) for v in values]


def _deepened(value, depth):
    if not isinstance(value, RaggedTensor):
        return RaggedTensor.from_tensor(value, ragged_rank=depth)
    if value.ragged_rank == depth:
        return value
    return value.with_values(_deepened(value.values, depth - 1))


def _side_by_side(values):
    """Row i of the result is row i of each, one after the other."""
    count = _length(values[0])
    if any(_length(v) != count for v in values):
        raise ValueError(f"rows do not match: {[_length(v) for v in values]}")
    stacked = concat(values, 0)
    number = stacked.row_splits.dtype._enum
    row = call("range", (convert(0, number), count, 1), {})
    columns = [row + convert(k * count, number) for k in range(len(values))]
    order = call("reshape", (call("stack", (columns,), {"axis": 1}), (-1,)), {})
    mixed = take(stacked, order)
    lengths = call("reshape", (mixed.row_lengths(), (count, len(values))), {})
    lengths = call("sum", (lengths,), {"axis": [1]})
    return RaggedTensor.from_row_lengths(mixed.values, lengths, validate=False)


def _concat(values, axis, name="concat"):
    return concat(values, axis)


def _stack(values, axis=0):
    return stack(values, axis)


def _expand_dims(input, axis):
    rank = input.shape.rank
    axis = axis + rank + 1 if axis < 0 else axis
    if axis == 0:
        return _expanded(input)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(input, 1)
    if isinstance(input.values, RaggedTensor):
        return input.with_values(_expand_dims(input.values, axis - 1))
    return input.with_values(call("expand_dims", (input.values,), {"axis": axis - 1}))


def _where(condition, x=None, y=None):
    if x is None:
        places = call("stack", (places_of_values(condition),), {"axis": 1})
        return call("boolean_mask", (places, condition.flat_values), {})
    values = call(
        "select",
        (
            condition.flat_values,
            *(v.flat_values if isinstance(v, RaggedTensor) else _at_values(condition, v)
              for v in (x, y)),
        ),
        {},
    )  # fmt: skip
    return condition.with_flat_values(values)


def _shape(input, out_type=dtypes.int32):
    return DynamicShape(input)


class DynamicShape:
    """What ``tf.shape`` gives: sizes by index, where all rows have the same."""

    def __init__(self, ragged):
        self._ragged = ragged

    rank = property(lambda self: self._ragged.shape.rank)
    num_row_partitions = property(lambda self: self._ragged.ragged_rank)
    static_lengths = property(lambda self: self._ragged.shape.as_list())

    def is_uniform(self, axis):
        """Whether a dimension has one size."""
        return axis == 0 or axis > self._ragged.ragged_rank or self._sizes()[axis] is not None

    def _sizes(self):
        return self._ragged.shape.as_list()

    def __getitem__(self, index):
        index = int(index) + self.rank if int(index) < 0 else int(index)
        if not self.is_uniform(index):
            raise ValueError(f"Index {index} is not uniform")
        if self._sizes()[index] is not None:
            return convert(self._sizes()[index], dtypes.int64._enum)
        if index == 0:
            return length_of(self._ragged)
        inner = call("shape", (self._ragged.flat_values,), {"out_type": dtypes.int64._enum})
        return inner[index - self._ragged.ragged_rank]

    def __repr__(self):
        return f"<DynamicRaggedShape {self._sizes()}>"


def _embedding_lookup(params, ids, max_norm=None):
    values = tf.nn.embedding_lookup(params, ids.flat_values, max_norm)
    return ids.with_flat_values(values)


def _size(input, out_type=dtypes.int32):
    return call("size", (input.flat_values,), {"out_type": dtypes.as_dtype(out_type)._enum})


def _rank(input):
    return convert(input.shape.rank, dtypes.int32._enum)


def _reverse(tensor, axis):
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    keys = [slice(None)] * tensor.shape.rank
    for a in axes:
        keys[int(a)] = slice(None, None, -1)
    return tensor[tuple(keys)]


# op names: what is written for ragged tensors by hand.
_HANDLERS = {
    **_reducing.HANDLERS,
    "concat": _concat,
    "embedding_lookup": _embedding_lookup,
    "expand_dims": _expand_dims,
    "gather": _gathering.gather,
    "rank": _rank,
    "reverse": _reverse,
    "shape": _shape,
    "size": _size,
    "stack": _stack,
    "where": _where,
}


def install_operators():
    """Gives RaggedTensor Python's operators."""
    functions = {
        "add": tf.add, "sub": tf.subtract, "mul": tf.multiply, "truediv": tf.truediv,
        "floordiv": tf.math.floordiv, "mod": tf.math.floormod, "pow": tf.pow,
        "and": tf.logical_and, "or": tf.logical_or, "xor": tf.math.logical_xor,
    }  # fmt: skip
    for name, function in functions.items():
        setattr(RaggedTensor, f"__{name}__", _operator(function))
        setattr(RaggedTensor, f"__r{name}__", _reflected(function))
    comparisons = {"eq": tf.equal, "ne": tf.not_equal, "lt": tf.less, "le": tf.less_equal,
                   "gt": tf.greater, "ge": tf.greater_equal}  # fmt: skip
    for name, function in comparisons.items():
        setattr(RaggedTensor, f"__{name}__", _operator(function))
    for name, function in {"neg": tf.negative, "abs": tf.abs, "invert": tf.logical_not}.items():
        setattr(RaggedTensor, f"__{name}__", _unary(function))


def _operator(function):
    return lambda self, other: binary(function, (self, other), {})


def _reflected(function):
    return lambda self, other: binary(function, (other, self), {})


def _unary(function):
    return lambda self: self.with_flat_values(function(self.flat_values))


install_operators()
