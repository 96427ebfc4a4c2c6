"""Dilation and erosion of images over windows."""

from __future__ import annotations

from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import is_number, known_size, larger, sizes_of
from tidemark._tidemark import call, convert
from tidemark.nn._space_to_batch import _fail


def _same_padding(size, reach, step):
    """Pixels to add before and after, so that every step-th pixel is the middle of a window."""
    total = larger((-(-size // step) - 1) * step + reach - size, 0)
    return [total // 2, total - total // 2]


@export("tf.nn.dilation2d")
@sized_when_run
def dilation2d(input, filters, strides, padding, data_format, dilations, name=None):
    """The largest sum of a window's pixels and the filter's elements, channel by channel."""
    x, filters = convert_to_tensor(input), convert_to_tensor(filters)
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported: {data_format}")
    if x.ndim != 4 or filters.ndim != 3:
        _fail("dilation2d", f"takes [N, H, W, C] and [h, w, C], got {x.shape} and {filters.shape}")
    size, high, wide = sizes_of(x)[1:3], known_size(filters, 0), known_size(filters, 1)
    step, rate = list(strides)[1:3], list(dilations)[1:3]
    reach = [(high - 1) * rate[0] + 1, (wide - 1) * rate[1] + 1]
    if padding == "SAME":
        edges = [_same_padding(d, r, s) for d, r, s in zip(size, reach, step, strict=True)]
        lowest = convert(x.dtype.min, x._dtype_enum)
        x = call("pad", (x, convert([[0, 0], *edges, [0, 0]]), lowest), {})
        size = sizes_of(x)[1:3]
    elif padding != "VALID":
        raise ValueError(f"padding must be 'SAME' or 'VALID', got {padding!r}")
    last = [d - r + 1 for d, r in zip(size, reach, strict=True)]
    if any(is_number(n) and n < 1 for n in last):
        _fail("dilation2d", f"the filter reaches over {reach}, more than the picture's {size}")
    best = None
    for i in range(high):
        for j in range(wide):
            top, left = i * rate[0], j * rate[1]
            rows = slice(top, top + last[0], step[0])
            columns = slice(left, left + last[1], step[1])
            here = x[:, rows, columns] + filters[i, j]
            best = here if best is None else call("maximum", (best, here), {})
    return best


@export("tf.nn.erosion2d")
def erosion2d(value, filters, strides, padding, data_format, dilations, name=None):
    """The smallest difference of a window's pixels and the mirrored filter's elements."""
    turned = call("reverse", (convert_to_tensor(filters),), {"axis": [0, 1]})
    value = -convert_to_tensor(value)
    return -dilation2d(value, turned, strides, padding, data_format, dilations)
