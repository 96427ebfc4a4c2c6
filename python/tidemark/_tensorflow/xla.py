"""Functions of TensorFlow's compiler module that libraries call directly."""

from __future__ import annotations

from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call, convert


def dynamic_update_slice(operand, update, start_indices):
    """The tensor with a block replaced; the block is moved so that it lies inside."""
    operand, update = convert_to_tensor(operand), convert_to_tensor(update)
    start = convert(start_indices)
    sizes = [_sizes(x, start.dtype) for x in (operand, update)]
    start = call("clip_by_value", (start, 0, sizes[0] - sizes[1]), {})
    end = start + sizes[1]
    strides = call("ones_like", (start,), {"dtype": None})
    if not operand.shape.rank:
        return call("identity", (update,), {})
    return call("tensor_strided_slice_update", (operand, start, end, strides, update), {})


def _sizes(x, dtype):
    """The sizes as a tensor, which the run computes where they are not known."""
    if x.shape.is_fully_defined():
        return convert(x.shape.as_list(), dtype._enum)
    return call("cast", (call("shape", (x,), {}),), {"dtype": dtype})
