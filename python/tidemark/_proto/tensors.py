"""``tf.make_tensor_proto`` and ``tf.make_ndarray``: arrays as messages, and back."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, dtypes
from tidemark._proto.framework import TensorProto
from tidemark._tensor.creation import is_symbolic_tensor
from tidemark._tidemark import Tensor
from tidemark._v1.graph_def.values import tensor_from, tensor_message
from tidemark.tensor_shape import as_shape


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """A TensorProto of an array; in a shape of more elements, one stands for all."""
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, TensorProto):
        return values
    if is_symbolic_tensor(values):
        raise TypeError("Expected any non-tensor type, but got a tensor instead.")
    if values is None:
        raise ValueError("None values not supported.")
    tensor = _value(values, dtype)
    if shape is None:
        return tensor_message(tensor)
    wanted = as_shape(shape)
    given, room = tensor.shape.num_elements(), wanted.num_elements()
    fits = tensor.shape.as_list() == wanted.as_list()
    if not fits and (verify_shape or (allow_broadcast and given != 1 and given != room)):
        raise TypeError(
            f"Expected Tensor's shape: {tuple(wanted)}, but got {tuple(tensor.shape.as_list())}."
        )
    if given > room:
        raise ValueError(f"Too many elements provided. Takes at most {room:d}, but got {given:d}")
    return tensor_message(tensor, wanted)


def _value(values, dtype):
    """A tensor that holds the values whatever graph is being built."""
    if isinstance(values, Tensor) and dtype is None:
        return values
    if not isinstance(values, (list, tuple, str, bytes)) and hasattr(values, "__array__"):
        values = np.asarray(values)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(values, np.ndarray) and wanted is not None and wanted != dtypes.string:
        values = values.astype(wanted.as_numpy_dtype)
    return _tidemark.convert(values, 0 if wanted is None else wanted._enum, None, False)


def make_ndarray(tensor):
    """The NumPy array of a TensorProto."""
    found = tensor_from(tensor, "the TensorProto")
    return np.asarray(found.numpy(), None if found.dtype != dtypes.string else object)
