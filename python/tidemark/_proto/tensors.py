"""``tf.make_tensor_proto`` and ``tf.make_ndarray``: arrays as messages, and back."""

from __future__ import annotations

import math

from tidemark import dtypes
from tidemark._proto.framework import TensorProto
from tidemark._tensor.creation import convert_to_tensor
from tidemark._v1.graph_def.values import shape_message, tensor_from, tensor_message
from tidemark.tensor_shape import as_shape


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """A TensorProto of an array; in a shape of more elements, one stands for all."""
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, TensorProto):
        return values
    tensor = convert_to_tensor(values, dtype=dtype)
    if shape is None or as_shape(shape).as_list() == tensor.shape.as_list():
        return tensor_message(tensor)
    wanted = as_shape(shape).as_list()
    given, room = tensor.shape.num_elements(), math.prod(wanted)
    if verify_shape or (allow_broadcast and given != 1 and given != room):
        raise TypeError(
            f"Expected Tensor's shape: {tuple(wanted)}, but got {tuple(tensor.shape.as_list())}."
        )
    if given > room:
        raise ValueError(f"Too many elements provided. Takes at most {room:d}, but got {given:d}")
    made = tensor_message(tensor)
    if given < room and made.tensor_content:
        raise ValueError(
            f"{given} elements do not fill the shape {wanted}; give one, which is repeated, or all"
        )
    made.tensor_shape.CopyFrom(shape_message(as_shape(shape)))
    made.tensor_shape.SetInParent()
    return made


def make_ndarray(tensor):
    """The NumPy array of a TensorProto."""
    found = tensor_from(tensor, "the TensorProto")
    array = found.numpy()
    return array.astype(object) if found.dtype == dtypes.string else array
