"""``tensor[...]``: NumPy's basic indexing as one strided slice, plus one mask or index array."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark
from tidemark._tidemark import Tensor, call

_strided_slice = _tidemark.op_function("strided_slice")


def getitem(self, key):
    """``tensor[key]`` for ints, slices, ``...``, ``None``, masks, scalar and index tensors."""
    kind = key.__class__
    # TensorFlow reads a list as if it were a tuple.
    if kind is not tuple and not (kind is list and _is_flat(key)):
        key = (key,)
    begin, end, strides = [], [], []
    begin_mask = end_mask = ellipsis_mask = new_axis_mask = shrink_mask = 0
    bit = 1
    for index in key:
        first, last, step = 0, 0, 1
        kind = index.__class__
        if kind is int:
            first = last = index
            shrink_mask |= bit
        elif kind is slice:
            first, last, step = index.start, index.stop, index.step
            if first is None:
                first = 0
                begin_mask |= bit
            elif first.__class__ is not int:
                first = _bound(first)
            if last is None:
                last = 0
                end_mask |= bit
            elif last.__class__ is not int:
                last = _bound(last)
            step = 1 if step is None else _bound(step)
        elif index is None:
            new_axis_mask |= bit
        elif index is Ellipsis:
            ellipsis_mask |= bit
        else:
            return _getitem(self, key)
        begin.append(first)
        end.append(last)
        strides.append(step)
        bit <<= 1
    if not begin:
        return self
    return _strided_slice(
        self, begin, end, strides,
        begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask,
    )  # fmt: skip


def _is_flat(items):
    return not items or not isinstance(items[0], (bool, list, np.bool_))


class _Spec:
    """begin, end, strides and masks of a strided slice, written one index at a time."""

    __slots__ = ("begin", "end", "strides", "masks", "array", "array_at", "rank_used")

    def __init__(self):
        self.begin, self.end, self.strides = [], [], []
        self.masks = [0, 0, 0, 0, 0]  # begin, end, ellipsis, new axis, shrink
        self.array = None  # the one mask or index array
        self.array_at = None
        self.rank_used = 0  # dimensions of the input that the indices take

    def add(self, begin, end, stride, *masks):
        bit = 1 << len(self.begin)
        for mask in masks:
            self.masks[mask] |= bit
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)


_BEGIN, _END, _ELLIPSIS, _NEW_AXIS, _SHRINK = range(5)


def slice_spec(key):
    """begin, end, strides and the five masks of a key that is a slice and nothing else."""
    kind = key.__class__
    if kind is not tuple and not (kind is list and _is_flat(key)):
        key = (key,)
    spec = _spec_of(key)
    if spec.array is not None:
        raise TypeError("a slice can be assigned to; masks and index arrays cannot")
    if not spec.begin:
        spec.add(0, 0, 1, _ELLIPSIS)
    return spec.begin, spec.end, spec.strides, tuple(spec.masks)


def _spec_of(key):
    spec = _Spec()
    for index in key:
        if index is None:
            spec.add(0, 0, 1, _NEW_AXIS)
        elif index is Ellipsis:
            spec.add(0, 0, 1, _ELLIPSIS)
        elif isinstance(index, slice):
            _add_slice(spec, index)
        else:
            _add_value(spec, index, len(key))
    return spec


def _getitem(tensor, key):
    """The same for keys with anything else in them."""
    spec = _spec_of(key)
    if spec.array is None:
        return _sliced(tensor, spec)
    axis = _axis_of_array(tensor, spec)
    alone = len(key) == 1
    return _taken(tensor if alone else _sliced(tensor, spec), spec.array, axis)


def _sliced(tensor, spec):
    return _strided_slice(tensor, spec.begin, spec.end, spec.strides, *spec.masks)


def _add_slice(spec, index):
    masks = []
    begin, end, stride = 0, 0, 1
    if index.start is None:
        masks.append(_BEGIN)
    else:
        begin = _bound(index.start)
    if index.stop is None:
        masks.append(_END)
    else:
        end = _bound(index.stop)
    if index.step is not None:
        stride = _bound(index.step)
    spec.add(begin, end, stride, *masks)
    spec.rank_used += 1


def _add_value(spec, index, count):
    """An int, a scalar tensor, or the one mask or index array."""
    plain = not isinstance(index, (Tensor, np.ndarray, list, bool, np.bool_))
    if plain or _is_scalar_integer(index):
        at = _bound(index)
        spec.add(at, at, 1, _SHRINK)
        spec.rank_used += 1
        return
    array = _index_array(index, count)
    if spec.array is not None:
        raise TypeError(
            "one mask or index array is allowed in an index, got two; use tf.gather_nd for more"
        )
    spec.array, spec.array_at = array, len(spec.begin)
    for _ in range(array.ndim if array.dtype.is_bool else 1):
        spec.add(0, 0, 1, _BEGIN, _END)
        spec.rank_used += 1


def _is_scalar_integer(index):
    if isinstance(index, Tensor):
        return index.ndim == 0 and index.dtype.is_integer
    return isinstance(index, np.ndarray) and index.ndim == 0 and index.dtype.kind in "iu"


def _bound(value):
    """An index as an int, or as a tensor of the graph being built."""
    if value.__class__ is int:
        return value
    if isinstance(value, Tensor) and _tidemark.is_symbolic(value):
        known = _tidemark.static_value(value)
        if known is None:
            if not value.dtype.is_integer or value.shape.rank not in (0, None):
                raise _not_an_index(value)
            return value
        value = known
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise _not_an_index(value)
    try:
        return value.__index__()
    except (TypeError, AttributeError, ValueError):
        raise _not_an_index(value) from None


def _not_an_index(value):
    return TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {value!r}"
    )


def _index_array(index, count):
    if isinstance(index, (bool, np.bool_)):
        if count == 1:
            raise ValueError("mask cannot be scalar.")
        raise _not_an_index(index)
    array = index if isinstance(index, Tensor) else _tidemark.convert(index, 0)
    if array.dtype.is_bool and array.ndim == 0:
        raise ValueError("mask cannot be scalar.")
    if not (array.dtype.is_bool or (array.dtype.is_integer and array.ndim > 0)):
        raise _not_an_index(index)
    return array


def _axis_of_array(tensor, spec):
    """The axis of the sliced tensor at which the mask or index array stands."""
    axis = 0
    for position in range(spec.array_at):
        bit = 1 << position
        if spec.masks[_ELLIPSIS] & bit:
            axis += max(0, tensor.ndim - spec.rank_used)
        elif not spec.masks[_SHRINK] & bit:
            axis += 1
    return axis


def _taken(tensor, array, axis):
    if array.dtype.is_bool:
        return call("boolean_mask", (tensor, array), {"axis": axis})
    if array.dtype.name not in ("int32", "int64"):
        array = call("cast", (array,), {"dtype": 9})
    size = tensor._shape_tuple()[axis] if axis < tensor.ndim else 0
    negative = call("less", (array, 0), {})
    indices = call("select", (negative, call("add", (array, size), {}), array), {})
    return call("gather", (tensor, indices), {"axis": axis})
