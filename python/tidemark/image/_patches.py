"""Windows cut out of images and volumes: patches and glimpses."""

from __future__ import annotations

import itertools

import numpy as np

import tidemark
from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import is_number, known_size, larger, sizes_of
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError


def _windows(size, window, stride, rate, padding):
    """Positions [number of windows, window] along one axis, and zeros needed before and after."""
    reach = (window - 1) * rate + 1
    if padding == "VALID":
        count = larger(0, (size - reach) // stride + 1)
        before = after = 0
    else:
        count = -(-size // stride)
        total = larger(0, (count - 1) * stride + reach - size)
        before, after = total // 2, total - total // 2
    starts = call("range", (0, count * stride, stride), {})
    inside = call("range", (0, window * rate, rate), {})
    return count, call("expand_dims", (starts,), {"axis": 1}) + inside, [before, after]


@export("tf.image.extract_patches")
def extract_patches(images, sizes, strides, rates, padding, name=None):
    """Patches of images, each laid out in the last axis."""
    images = convert_to_tensor(images)
    if images.ndim != 4:
        raise InvalidArgumentError(None, None, "[extract_patches] images must have rank 4")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding must be 'SAME' or 'VALID', got {padding!r}")
    for values, what in ((sizes, "sizes"), (strides, "strides"), (rates, "rates")):
        if len(values) != 4 or values[0] != 1 or values[3] != 1 or min(values) < 1:
            raise ValueError(f"{what} must look like [1, rows, columns, 1], got {list(values)}")
    batch, height, width, channels = sizes_of(images)
    rows, row_at, row_pad = _windows(height, sizes[1], strides[1], rates[1], padding)
    columns, column_at, column_pad = _windows(width, sizes[2], strides[2], rates[2], padding)
    if not all(is_number(pad) and pad == 0 for pad in row_pad + column_pad):
        zero = convert_to_tensor(0, dtype=images.dtype)
        images = call("pad", (images, [[0, 0], row_pad, column_pad, [0, 0]], zero), {})
    taken = call("gather", (images, row_at), {"axis": 1})  # b, R, r, w, c
    taken = call("gather", (taken, column_at), {"axis": 3})  # b, R, r, C, c', ch
    ordered = call("transpose", (taken,), {"perm": [0, 1, 3, 2, 4, 5]})
    return call("reshape", (ordered, (batch, rows, columns, sizes[1] * sizes[2] * channels)), {})


@export("tf.extract_volume_patches")
@sized_when_run
def extract_volume_patches(input, ksizes, strides, padding, name=None):
    """Blocks of a volume [batch, planes, rows, columns, depth], each put into the depth."""
    x = convert_to_tensor(input)
    if x.shape.rank != 5 or len(ksizes) != 5 or len(strides) != 5:
        raise ValueError("extract_volume_patches: input, ksizes and strides must have 5 dimensions")
    if (ksizes[0], ksizes[4], strides[0], strides[4]) != (1, 1, 1, 1):
        raise ValueError("extract_volume_patches: ksizes and strides begin and end with 1")
    kernel, step = ksizes[1:4], strides[1:4]
    size = [known_size(x, axis) for axis in (1, 2, 3)]
    if padding == "SAME":
        pads = [[0, 0]]
        for n, k, s in zip(size, kernel, step, strict=True):
            total = max((-(-n // s) - 1) * s + k - n, 0)
            pads.append([total // 2, total - total // 2])
        x = tidemark.pad(x, [*pads, [0, 0]])
    elif padding != "VALID":
        raise ValueError(f"padding must be 'SAME' or 'VALID', given {padding!r}")
    out = [(int(n) - k) // s + 1 for n, k, s in zip(x.shape[1:4], kernel, step, strict=True)]
    if min(out) <= 0:
        raise ValueError(f"extract_volume_patches: ksizes {kernel} are larger than {size}")
    parts = []
    for place in itertools.product(*[range(k) for k in kernel]):
        cut = [slice(p, p + (n - 1) * s + 1, s) for p, n, s in zip(place, out, step, strict=True)]
        parts.append(x[(slice(None), *cut)])
    return call("concat", parts, {"axis": 4})


@export("tf.image.extract_glimpse")
def extract_glimpse(
    input, size, offsets, centered=True, normalized=True, noise="uniform", name=None
):
    """A window of each image around an offset; what lies outside of the image is noise."""
    if noise not in ("uniform", "gaussian", "zero"):
        raise ValueError(f"noise must be 'uniform', 'gaussian' or 'zero', given {noise!r}")
    if centered and not normalized:
        raise ValueError("centered must be true only when normalized is true")
    x = convert_to_tensor(input, dtype=dtypes.float32)
    offsets = convert_to_tensor(offsets, dtype=dtypes.float32)
    size = convert_to_tensor(size, dtype=dtypes.int32)
    at = _glimpse_places(x, size, offsets, bool(centered), bool(normalized))
    inside = call("greater_equal", (at, convert_to_tensor(0)), {})
    flat = call("reshape", (x, [-1, sizes_of(x)[3]]), {})
    pixels = call("gather", (flat, call("maximum", (at, convert_to_tensor(0)), {})), {})
    if noise == "zero":
        rest = call("zeros_like", (pixels,), {})
    else:
        shape = call("shape", (pixels,), {})
        # TensorFlow's noise has the range, or the mean and deviation, of a standard one.
        rest = (
            tidemark.random.uniform(shape) if noise == "uniform" else tidemark.random.normal(shape)
        )
    condition = call("expand_dims", (inside,), {"axis": -1})
    return call("select", (condition, pixels, rest), {})


@sized_when_run(part_of="tf.image.extract_glimpse")
def _glimpse_places(x, size, offsets, centered, normalized):
    """The number of the pixel at each place of each window; -1: outside."""
    batch, height, width = (known_size(x, axis) for axis in (0, 1, 2))
    tall, wide = (int(n) for n in size.numpy())
    if tall <= 0 or wide <= 0:
        raise InvalidArgumentError(None, None, f"[extract_glimpse] size must be positive; given "
                                   f"{[tall, wide]}")  # fmt: skip
    where = np.asarray(offsets.numpy(), np.float64)
    if where.shape != (batch, 2):
        raise InvalidArgumentError(None, None, f"[extract_glimpse] offsets must be [{batch}, 2]; "
                                   f"given {list(where.shape)}")  # fmt: skip
    extent = np.array([height, width])
    if normalized:
        where = where * extent
    if centered:
        where = where / 2 + extent / 2
        where = where - np.array([tall, wide]) / 2
    first = np.trunc(where).astype(np.int64)
    rows = first[:, 0, None] + np.arange(tall)
    columns = first[:, 1, None] + np.arange(wide)
    good = ((rows >= 0) & (rows < height))[:, :, None] & ((columns >= 0) & (columns < width))[
        :, None
    ]
    numbers = (np.arange(batch)[:, None, None] * height + rows[:, :, None]) * width
    return convert_to_tensor(np.where(good, numbers + columns[:, None], -1).astype(np.int32))
