"""Operations on lists, maps and arrays of tensors, behind handles.

Lists and maps are values: an operation gives a new one and leaves the old one as it was. They are
Python objects; a function that is traced keeps those it was traced with.
"""

from __future__ import annotations

import numpy as np

import tidemark as tf
from tidemark._tensor.tensor_array import TensorArray
from tidemark._tensorflow.raw.handles import held, resource, variant


class _List:
    """Tensors of one dtype; a place nothing was written to is None."""

    __slots__ = ("items", "dtype", "shape", "__weakref__")

    def __init__(self, items, dtype, shape):
        self.items, self.dtype, self.shape = tuple(items), tf.as_dtype(dtype), shape

    def __repr__(self):
        return "<TensorList>"

    def at(self, index):
        if not 0 <= index < len(self.items):
            raise tf.errors.InvalidArgumentError(
                None, None,
                f"Trying to access element {index} in a list with {len(self.items)} elements.",
            )  # fmt: skip
        return self.items[index]

    def element(self, index, shape):
        """The tensor at a place; zeros where nothing was written, if the shape is known."""
        found = self.at(index)
        if found is not None:
            return found
        sizes = _merged(shape, self.shape)
        if not sizes.is_fully_defined():
            written = next((item.shape for item in self.items if item is not None), sizes)
            sizes = _merged(written, sizes)
        if not sizes.is_fully_defined():
            raise tf.errors.InvalidArgumentError(
                None, None,
                "Trying to read an uninitialized tensor but element_shape is not fully defined.",
            )  # fmt: skip
        return tf.zeros(sizes, self.dtype)


def _shape(given):
    """A shape that came as sizes, -1 for those not known; -1 alone for any."""
    if isinstance(given, tf.TensorShape) or given is None or given == "?":
        return tf.TensorShape(None if isinstance(given, str) else given)
    sizes = tf.convert_to_tensor(given).numpy()
    if sizes.ndim == 0:
        return tf.TensorShape(None)
    return tf.TensorShape([None if size < 0 else int(size) for size in sizes])


def _merged(one, other):
    return _shape(one).merge_with(_shape(other))


def _list(handle):
    return held(handle, _List)


def _made(items, like, shape=None):
    return variant(_List(items, like.dtype, like.shape if shape is None else shape))


def _checked(items, tensor):
    if tensor.dtype != items.dtype:
        raise tf.errors.InvalidArgumentError(
            None, None,
            f"Invalid data types; list elements {items.dtype.name} but tried to set or append "
            f"{tensor.dtype.name}",
        )  # fmt: skip
    if not items.shape.is_compatible_with(tensor.shape):
        raise tf.errors.InvalidArgumentError(
            None, None,
            "Tried to set or append a tensor with incompatible shape to a list. Item element "
            f"shape: {tensor.shape} list shape: {items.shape}",
        )  # fmt: skip
    return tensor


def _empty(element_shape, max_num_elements, element_dtype):
    return variant(_List((), element_dtype, _shape(element_shape)))


def _reserve(element_shape, num_elements, element_dtype):
    return variant(_List((None,) * int(num_elements), element_dtype, _shape(element_shape)))


def _from_tensor(tensor, element_shape):
    return variant(_List(tf.unstack(tensor), tensor.dtype, _shape(element_shape)))


def _push_back(input_handle, tensor):
    items = _list(input_handle)
    return _made((*items.items, _checked(items, tensor)), items)


def _push_back_batch(input_handles, tensor):
    pairs = zip(input_handles, tf.unstack(tensor), strict=True)
    return [_push_back(handle, one) for handle, one in pairs]


def _pop_back(input_handle, element_shape, **_):
    items = _list(input_handle)
    if not items.items:
        raise tf.errors.InvalidArgumentError(None, None, "Trying to pop from an empty list.")
    last = items.element(len(items.items) - 1, element_shape)
    return [_made(items.items[:-1], items), last]


def _get_item(input_handle, index, element_shape, **_):
    return _list(input_handle).element(int(index), element_shape)


def _set_item(input_handle, index, item, resize_if_index_out_of_bounds):
    items, index = _list(input_handle), int(index)
    kept = list(items.items)
    if resize_if_index_out_of_bounds and index >= len(kept):
        kept += [None] * (index + 1 - len(kept))
    else:
        items.at(index)
    kept[index] = _checked(items, item)
    return _made(kept, items)


def _resize(input_handle, size):
    items, size = _list(input_handle), int(size)
    if size < 0:
        raise tf.errors.InvalidArgumentError(
            None, None, "TensorListSlice expects size to be non-negative."
        )
    return _made((*items.items, *[None] * (size - len(items.items)))[:size], items)


def _stacked(rows, items, shape):
    if rows:
        return tf.stack(rows)
    sizes = _merged(shape, items.shape)
    if not sizes.is_fully_defined():
        raise tf.errors.InvalidArgumentError(
            None, None,
            f"Tried to stack elements of an empty list with non-fully-defined element_shape: "
            f"{sizes}",
        )  # fmt: skip
    return tf.zeros([0, *sizes], items.dtype)


def _stack(input_handle, element_shape, num_elements, **_):
    items = _list(input_handle)
    if num_elements not in (-1, len(items.items)):
        raise tf.errors.InvalidArgumentError(
            None, None,
            f"Operation expected a list with {num_elements} elements but got a list with "
            f"{len(items.items)} elements.",
        )  # fmt: skip
    rows = [items.element(at, element_shape) for at in range(len(items.items))]
    return _stacked(rows, items, element_shape)


def _gather(input_handle, indices, element_shape, **_):
    items = _list(input_handle)
    rows = [items.element(int(at), element_shape) for at in indices.numpy()]
    return _stacked(rows, items, element_shape)


def _concat(input_handle, element_shape=None, leading_dims=(), **_):
    items = _list(input_handle)
    leading = list(tf.convert_to_tensor(leading_dims).numpy()) if len(leading_dims) else []
    rows = []
    for at, item in enumerate(items.items):
        if item is None and at < len(leading):
            inner = _merged(element_shape, items.shape)[1:]
            item = tf.zeros([int(leading[at]), *inner], items.dtype)
        rows.append(items.element(at, element_shape) if item is None else item)
    if not rows:
        inner = _merged(element_shape, items.shape)[1:]
        return [tf.zeros([0, *inner], items.dtype), tf.zeros([0], tf.int64)]
    lengths = tf.constant([row.shape[0] for row in rows], tf.int64)
    return [tf.concat(rows, 0), lengths]


def _concat_lists(input_a, input_b, **_):
    first = _list(input_a)
    return _made(first.items + _list(input_b).items, first)


def _split(tensor, element_shape, lengths):
    pieces = tf.split(tensor, lengths)
    inner = [None, *_shape(tensor.shape)[1:]]
    return variant(_List(pieces, tensor.dtype, tf.TensorShape(inner)))


def _scatter(tensor, indices, element_shape, num_elements=-1):
    places = [int(at) for at in indices.numpy()]
    if any(at < 0 for at in places):
        raise tf.errors.InvalidArgumentError(
            None, None, "Indices in TensorListScatter must all be non-negative."
        )
    count = max(int(num_elements), 1 + max(places, default=-1))
    items = _List((None,) * count, tensor.dtype, _shape(element_shape))
    return _scatter_into(variant(items), tensor, indices)


def _scatter_into(input_handle, tensor, indices):
    items = _list(input_handle)
    kept = list(items.items)
    for at, row in zip(indices.numpy(), tf.unstack(tensor), strict=True):
        kept += [None] * (int(at) + 1 - len(kept))
        kept[int(at)] = _checked(items, row)
    return _made(kept, items)


def _element_shape(input_handle, shape_type):
    shape = _list(input_handle).shape
    if shape.rank is None:
        return tf.constant(-1, shape_type)
    return tf.constant([-1 if size is None else size for size in shape.as_list()], shape_type)


# --- maps ----------------------------------------------------------------------------------------


class _Map:
    """Tensors by the values of tensors; what it holds does not change."""

    __slots__ = ("pairs", "__weakref__")

    def __init__(self, pairs):
        self.pairs = pairs  # (dtype, shape, bytes) of the key → (key, value)

    def __repr__(self):
        return "<TensorMap>"


def _name_of(key):
    array = np.asarray(key.numpy())
    content = repr(array.tolist()) if array.dtype == object else array.tobytes()
    return key.dtype.name, array.shape, content


def _map(handle):
    return held(handle, _Map)


def _found(handle, key):
    found = _map(handle).pairs.get(_name_of(key))
    if found is None:
        raise tf.errors.InvalidArgumentError(
            None, None, f"Trying to lookup non-existent key. Could not find key {key.numpy()!r}."
        )
    return found[1]


def _map_insert(input_handle, key, value):
    return variant(_Map({**_map(input_handle).pairs, _name_of(key): (key, value)}))


def _map_erase(input_handle, key, **_):
    _found(input_handle, key)
    pairs = dict(_map(input_handle).pairs)
    del pairs[_name_of(key)]
    return variant(_Map(pairs))


def _stack_keys(input_handle, key_dtype):
    keys = [key for key, _ in _map(input_handle).pairs.values()]
    wrong = next((key for key in keys if key.dtype != key_dtype), None)
    if wrong is not None:
        raise tf.errors.InvalidArgumentError(
            None, None,
            f"Key does not match requested dtype: {wrong.dtype.name}, not {key_dtype.name}.",
        )  # fmt: skip
    return tf.stack(keys) if keys else tf.zeros([0], key_dtype)


# --- arrays --------------------------------------------------------------------------------------


class _Array:
    """A place for the array, since a graph's array is a new one after each change."""

    def __init__(self, array):
        self.array = array


def _array(size, dtype, element_shape="?", dynamic_size=False, clear_after_read=True, **_):
    made = TensorArray(
        dtype, size, dynamic_size, clear_after_read, infer_shape=False,
        element_shape=None if element_shape == "?" else element_shape,
    )  # fmt: skip
    return [resource(_Array(made)), tf.constant(0.0)]


def _of(handle):
    return held(handle, _Array)


def _changed(handle, array):
    _of(handle).array = array
    return tf.constant(0.0)


def _array_split(handle, value, lengths, **_):
    return _changed(handle, _of(handle).array.split(value, lengths))


def _array_gather(handle, indices, **_):
    return _of(handle).array.gather(indices)


_ARRAYS = {
    "TensorArrayClose": lambda handle: _of(handle).array.close(),
    "TensorArrayGather": _array_gather,
    "TensorArrayRead": lambda handle, index, **_: _of(handle).array.read(index),
    "TensorArrayScatter": lambda handle, indices, value, **_: _changed(
        handle, _of(handle).array.scatter(indices, value)
    ),
    "TensorArraySize": lambda handle, **_: _of(handle).array.size(),
    "TensorArraySplit": _array_split,
    "TensorArrayWrite": lambda handle, index, value, **_: _changed(
        handle, _of(handle).array.write(index, value)
    ),
}

WRITTEN = {
    **{name + "V3": function for name, function in _ARRAYS.items()},
    "EmptyTensorList": _empty,
    "EmptyTensorMap": lambda: variant(_Map({})),
    "TensorArrayV3": _array,
    "TensorListConcat": _concat,
    "TensorListConcatLists": _concat_lists,
    "TensorListConcatV2": _concat,
    "TensorListElementShape": _element_shape,
    "TensorListFromTensor": _from_tensor,
    "TensorListGather": _gather,
    "TensorListGetItem": _get_item,
    "TensorListLength": lambda input_handle: tf.constant(len(_list(input_handle).items)),
    "TensorListPopBack": _pop_back,
    "TensorListPushBack": _push_back,
    "TensorListPushBackBatch": _push_back_batch,
    "TensorListReserve": _reserve,
    "TensorListResize": _resize,
    "TensorListScatter": _scatter,
    "TensorListScatterIntoExistingList": _scatter_into,
    "TensorListScatterV2": _scatter,
    "TensorListSetItem": _set_item,
    "TensorListSplit": _split,
    "TensorListStack": _stack,
    "TensorMapErase": _map_erase,
    "TensorMapHasKey": lambda input_handle, key: tf.constant(
        _name_of(key) in _map(input_handle).pairs
    ),
    "TensorMapInsert": _map_insert,
    "TensorMapLookup": lambda input_handle, key, **_: _found(input_handle, key),
    "TensorMapSize": lambda input_handle: tf.constant(len(_map(input_handle).pairs)),
    "TensorMapStackKeys": _stack_keys,
}
