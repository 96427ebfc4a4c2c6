"""Functions of TensorFlow's compiler module that libraries call directly."""

from __future__ import annotations

from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call, convert


def dynamic_update_slice(operand, update, start_indices):
    """The tensor with a block replaced; the block is moved so that it lies inside."""
    operand, update = convert_to_tensor(operand), convert_to_tensor(update)
    start = convert(start_indices)
    room = [a - b for a, b in zip(operand.shape.as_list(), update.shape.as_list(), strict=True)]
    start = call("clip_by_value", (start, 0, room), {})
    end = start + convert(update.shape.as_list(), start.dtype._enum)
    strides = call("ones_like", (start,), {"dtype": None})
    if not operand.shape.rank:
        return call("identity", (update,), {})
    return call("tensor_strided_slice_update", (operand, start, end, strides, update), {})
