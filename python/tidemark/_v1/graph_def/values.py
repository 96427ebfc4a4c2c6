"""Values of attributes and tensors as messages, and back."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, dtypes
from tidemark._proto.framework import AttrValue, DataType, TensorProto, TensorShapeProto
from tidemark._tidemark import Tensor
from tidemark.errors import InvalidArgumentError
from tidemark.tensor_shape import TensorShape

_MOST_ELEMENTS = 1 << 40
_LISTS = {
    "float32": "float_val", "float64": "double_val", "int32": "int_val", "uint8": "int_val",
    "int16": "int_val", "int8": "int_val", "uint16": "int_val", "int64": "int64_val",
    "bool": "bool_val", "uint32": "uint32_val", "uint64": "uint64_val", "float16": "half_val",
    "bfloat16": "half_val", "complex64": "scomplex_val", "complex128": "dcomplex_val",
    "string": "string_val",
}  # fmt: skip
# TensorFlow writes these into their lists, all others as bytes.
_WRITTEN_ONE_BY_ONE = {"bool", "uint16", "bfloat16", "complex64", "complex128"}


def bad(text):
    return InvalidArgumentError(None, None, text)


def dtype_from_enum(number, what):
    """Our dtype for TensorFlow's number."""
    try:
        found = dtypes.as_dtype(int(number))
    except (TypeError, ValueError, KeyError):
        found = None
    if found is None or not 0 < number < 100:
        raise bad(f"{what} is {DataType.name_of(number)}, which is no dtype of a tensor here")
    return found


# --- shapes --------------------------------------------------------------------------------------


def shape_message(shape):
    """A TensorShapeProto."""
    made = TensorShapeProto()
    if shape is None or shape.rank is None:
        made.unknown_rank = True
        return made
    for size in shape.as_list():
        made.dim.add(size=-1 if size is None else size)
    return made


def shape_from(message, what):
    if message.unknown_rank:
        if len(message.dim):
            raise bad(f"{what} has an unknown rank and {len(message.dim)} dimensions")
        return TensorShape(None)
    if len(message.dim) > 254:
        raise bad(f"{what} has {len(message.dim)} dimensions; 254 are allowed")
    for dim in message.dim:
        if dim.size < -1:
            raise bad(f"{what} has a dimension of size {dim.size}; sizes are at least -1")
    sizes = [None if dim.size == -1 else dim.size for dim in message.dim]
    count = 1
    for size in sizes:
        count *= 1 if size is None else size
    if count > _MOST_ELEMENTS:
        raise bad(f"{what} has {count} elements, more than any memory holds: {sizes}")
    return TensorShape(sizes)


# --- tensors -------------------------------------------------------------------------------------


def tensor_message(tensor, shape=None):
    """A TensorProto of a tensor that holds values; in a shape of more elements the last one stands
    for those left out."""
    dtype = tensor.dtype
    made = TensorProto(dtype=dtype.as_datatype_enum)
    made.tensor_shape.CopyFrom(shape_message(tensor.shape if shape is None else shape))
    made.tensor_shape.SetInParent()
    if dtype == dtypes.string:
        items = np.asarray(tensor.numpy(), dtype=object).reshape(-1)
        made.string_val.extend(items.tolist())
        return made
    array = np.ascontiguousarray(tensor.numpy()).reshape(-1)
    whole = shape is None or shape.num_elements() == array.size
    if whole and array.size > 1 and dtype.name not in _WRITTEN_ONE_BY_ONE:
        made.tensor_content = array.tobytes()
    elif array.size:
        getattr(made, _LISTS[dtype.name]).extend(_listed(array, dtype))
    return made


def _listed(array, dtype):
    """The numbers of an array as the list for their dtype has them."""
    if _LISTS[dtype.name] == "half_val":
        return array.view(np.uint16).tolist()
    if dtype.is_complex:
        return array.view(np.float32 if dtype.name == "complex64" else np.float64).tolist()
    return array.tolist()


def _numbers(message, dtype):
    """The values of the list for the dtype."""
    values = getattr(message, _LISTS[dtype.name])
    numpy_type = dtype.as_numpy_dtype
    if dtype.name in ("float16", "bfloat16"):
        return np.array([v & 0xFFFF for v in values], np.uint16).view(numpy_type)
    if dtype.is_complex:
        part = np.float32 if dtype.name == "complex64" else np.float64
        if len(values) % 2:
            raise bad("a tensor of complex numbers has half of one")
        return np.array(values, part).view(numpy_type)
    with np.errstate(over="ignore"):
        return np.array(
            values, np.int64 if "int" in dtype.name and dtype.size < 8 else None
        ).astype(numpy_type)


def tensor_from(message, what):
    """The tensor of a TensorProto."""
    dtype = dtype_from_enum(message.dtype, f"the dtype of {what}")
    shape = shape_from(message.tensor_shape, f"the shape of {what}")
    if not shape.is_fully_defined():
        raise bad(f"the shape of {what} is not known: {shape}")
    count = shape.num_elements()
    if dtype == dtypes.string:
        values = list(message.string_val)
        if len(values) not in (count, 1) or (count and not values):
            raise bad(f"{what} has {len(values)} strings for {count} elements")
        if count > 1 << 24 and len(values) == 1:
            raise bad(f"{what} repeats one string {count} times")
        values = values * count if len(values) == 1 and count != 1 else values[:count]
        array = np.array(values, dtype=object).reshape(shape.as_list())
        return _tidemark.convert(array, dtype._enum, None, False)
    if message.tensor_content:
        expected = count * dtype.size
        if len(message.tensor_content) != expected:
            raise bad(
                f"{what} has {len(message.tensor_content)} bytes for {shape} elements of "
                f"{dtype.name}, which take {expected}"
            )
        array = np.frombuffer(message.tensor_content, dtype.as_numpy_dtype).copy()
    else:
        array = _filled(_numbers(message, dtype), count, dtype, what)
    return _tidemark.convert(array.reshape(shape.as_list()), dtype._enum, None, False)


def _filled(values, count, dtype, what):
    """As many values as there are elements: the last given one stands for those left out."""
    if len(values) > count:
        raise bad(f"{what} has {len(values)} values for {count} elements")
    if len(values) == count:
        return values
    if count * dtype.size > 1 << 34:
        raise bad(f"{what} repeats one value over {count * dtype.size} bytes")
    last = values[-1] if len(values) else np.zeros((), dtype.as_numpy_dtype)
    out = np.full(count, last, dtype.as_numpy_dtype)
    out[: len(values)] = values
    return out


# --- attributes ----------------------------------------------------------------------------------


def set_attr(message, kind, value):
    """Writes a value of the kind that TensorFlow's definition names."""
    if kind.startswith("list("):
        message.list.SetInParent()
        inner, target = kind[5:-1], message.list
        for item in value:
            _append(target, inner, item)
    elif kind == "type":
        message.type = dtypes.as_dtype(value).as_datatype_enum
    elif kind == "shape":
        unknown = value is None or (isinstance(value, str) and value == "?")
        message.shape.CopyFrom(shape_message(None if unknown else TensorShape(value)))
        message.shape.SetInParent()
    elif kind == "tensor":
        message.tensor.CopyFrom(tensor_message(value))
    elif kind == "string":
        message.s = value
    elif kind == "int":
        message.i = value
    elif kind == "float":
        message.f = value
    elif kind == "bool":
        message.b = value
    elif kind == "func":
        message.func.name = value
    else:
        raise bad(f"attributes of kind {kind} are not written")


def _append(target, kind, item):
    if kind == "type":
        target.type.append(dtypes.as_dtype(item).as_datatype_enum)
    elif kind == "shape":
        target.shape.append(shape_message(TensorShape(item)))
    elif kind == "func":
        target.func.add(name=item)
    else:
        getattr(target, {"string": "s", "int": "i", "float": "f", "bool": "b"}[kind]).append(item)


_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b", "type": "type", "shape": "shape",
           "tensor": "tensor", "func": "func"}  # fmt: skip


def get_attr(message, kind, what):
    """The value of an attribute that is to be of a kind."""
    field = message.WhichOneof("value")
    wanted = "list" if kind.startswith("list(") else _FIELDS.get(kind)
    if field != wanted:
        raise bad(f"{what} is to be of kind {kind}; it is {field or 'empty'}")
    if field == "list":
        inner = _FIELDS.get(kind[5:-1])
        values = list(getattr(message.list, inner))
        if inner == "type":
            return [dtype_from_enum(v, what) for v in values]
        if inner == "shape":
            return [shape_from(v, what) for v in values]
        return values
    value = getattr(message, field)
    if field == "type":
        if value == DataType.DT_RESOURCE:
            return "resource"
        return dtype_from_enum(value, what)
    if field == "shape":
        return shape_from(value, what)
    if field == "tensor":
        return tensor_from(value, what)
    return value


def python_value(message, what):
    """What ``Operation.get_attr`` gives."""
    field = message.WhichOneof("value")
    if field == "list":
        for inner in ("s", "i", "f", "b", "type", "shape", "tensor"):
            values = getattr(message.list, inner)
            if len(values):
                if inner == "type":
                    return [dtype_from_enum(v, what) for v in values]
                return list(values)
        return []
    if field == "type":
        return dtype_from_enum(message.type, what)
    return getattr(message, field)


__all__ = ["AttrValue", "Tensor", "bad", "dtype_from_enum", "get_attr", "python_value", "set_attr",
           "shape_from", "shape_message", "tensor_from", "tensor_message"]  # fmt: skip
