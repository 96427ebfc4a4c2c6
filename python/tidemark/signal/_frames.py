"""Signals cut into frames that overlap, and put together again."""

from __future__ import annotations

import math as _math

from tidemark._export import export
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import is_number, known_rank, larger, sizes_of
from tidemark._tidemark import call


@export("tf.signal.frame")
def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Pieces of ``frame_length`` along an axis, one every ``frame_step``, as a new axis."""
    signal = convert_to_tensor(signal)
    length, step = int(frame_length), int(frame_step)
    if step < 1:
        raise ValueError(f"frame_step must be positive, got {step}")
    if length < 0:
        raise ValueError(f"frame_length must not be negative, got {length}")
    axis = int(axis)
    if signal.ndim is None:
        size = call("shape", (signal,), {})[axis]
    else:
        axis = axis + signal.ndim if axis < 0 else axis
        size = sizes_of(signal)[axis]
    if pad_end:
        count = -(-size // step)
        missing = larger(0, length + step * (count - 1) - size)
        pads = [[0, missing if a == axis else 0] for a in range(known_rank(signal))]
        signal = call("pad", (signal, pads, convert_to_tensor(pad_value, dtype=signal.dtype)), {})
    else:
        count = larger(0, 1 + (size - length) // step)
    starts = call("range", (0, count * step, step), {})
    inside = call("range", (0, length, 1), {})
    positions = call("expand_dims", (starts,), {"axis": 1}) + inside
    return call("gather", (signal, positions), {"axis": axis})


@export("tf.signal.overlap_and_add")
def overlap_and_add(signal, frame_step, name=None):
    """Frames laid over one another, each ``frame_step`` after the one before, and added."""
    signal = convert_to_tensor(signal)
    if signal.ndim < 2:
        raise ValueError(f"signal must have at least 2 axes (frames, samples), got {signal.shape}")
    step = int(frame_step)
    if step < 1:
        raise ValueError(f"frame_step must be positive, got {step}")
    *outer, frames, length = sizes_of(signal)
    is_empty = is_number(frames) and frames == 0
    total = 0 if is_empty else larger(length + step * (frames - 1), 0)
    # Position of every sample, then a sum of those that share one.
    starts = call("range", (0, frames * step, step), {})
    positions = call("expand_dims", (starts,), {"axis": 1}) + call("range", (0, length, 1), {})
    rows = call("reshape", (signal, (_math.prod(outer), frames * length)), {})
    flat = call("transpose", (rows,), {"perm": [1, 0]})
    ids = call("reshape", (positions, (-1,)), {})
    sums = call("unsorted_segment_sum", (flat, ids, total), {})
    return call("reshape", (call("transpose", (sums,), {"perm": [1, 0]}), (*outer, total)), {})
