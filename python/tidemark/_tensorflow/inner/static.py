"""``tensorflow.python.framework.tensor_util``: values that are known before a graph runs."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark
from tidemark._proto.tensors import make_ndarray, make_tensor_proto
from tidemark._tensor.creation import get_static_value, is_tensor
from tidemark.tensor_shape import TensorShape

constant_value = get_static_value
is_tf_type = is_tensor
MakeNdarray = make_ndarray


def try_evaluate_constant(tensor):
    """The value of a tensor that depends on constants alone; None."""
    return get_static_value(tensor)


def constant_value_as_shape(tensor):
    """The shape in a tensor, unknown where it is not known."""
    if not isinstance(tensor, (_tidemark.Tensor, _tidemark.VariableBase)):
        return TensorShape([size if size >= 0 else None for size in np.asarray(tensor).tolist()])
    value = get_static_value(tensor)
    if value is None:
        rank = tensor.shape.rank and tensor.shape[0]
        return TensorShape(None if rank is None else [None] * rank)
    return TensorShape([int(size) if size >= 0 else None for size in np.asarray(value).ravel()])


def shape_tensor(shape):
    """A shape as a tensor."""
    from tidemark._tensor.creation import convert_to_tensor  # loaded on first use

    return convert_to_tensor(shape, dtype="int32")


def maybe_set_static_shape(tensor, shape):
    """Tells a tensor of a graph the shape that another tensor holds, where it is known."""
    if not tensor.shape.is_fully_defined() and get_static_value(shape) is not None:
        tensor.set_shape(constant_value_as_shape(shape))


__all__ = ["make_tensor_proto"]
