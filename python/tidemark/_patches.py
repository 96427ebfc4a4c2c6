"""Windows cut out of images and volumes: glimpses, patches of volumes, fractional pooling."""

from __future__ import annotations

import collections
import itertools

import numpy as np

import tidemark
from tidemark import dtypes
from tidemark._at_run import sized_when_run
from tidemark._creation import convert_to_tensor
from tidemark._export import export
from tidemark._static import known_size, sizes_of
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError


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


_PARTS = ["output", "row_pooling_sequence", "col_pooling_sequence"]
FractionalMaxPool = collections.namedtuple("FractionalMaxPool", _PARTS)
FractionalAvgPool = collections.namedtuple("FractionalAvgPool", _PARTS)


def _cuts(length, out, pseudo_random, draw):
    """Where windows begin: out + 1 rising numbers from 0 to length."""
    ratio = length / out
    if pseudo_random:
        # The steps are the floor and the ceiling of the ratio, by where a drawn line crosses.
        u = draw[0]
        cuts = [int(np.ceil(ratio * (i + u))) - int(np.ceil(ratio * u)) for i in range(out + 1)]
        cuts[-1] = length
        return np.array(cuts)
    low = int(np.floor(ratio))
    longer = length - low * out
    steps = np.full(out, low)
    order = np.argsort(draw[:out])
    steps[order[:longer]] += 1
    return np.concatenate([[0], np.cumsum(steps)])


@sized_when_run(part_of="tf.nn.fractional_*_pool")
def _sequences(x, ratios, pseudo_random, draws):
    """The cuts of rows and columns."""
    sizes = [known_size(x, axis) for axis in (1, 2)]
    numbers = np.asarray(draws.numpy(), np.float64)
    result = []
    for i, (n, ratio) in enumerate(zip(sizes, ratios, strict=True)):
        out = int(np.floor(n / ratio))
        if out < 1:
            raise InvalidArgumentError(
                None, None, f"[fractional pooling] a ratio of {ratio} leaves nothing of {n} pixels"
            )
        cuts = _cuts(n, out, pseudo_random, np.resize(numbers[i], max(out, 1)))
        result.append(convert_to_tensor(cuts.astype(np.int64)))
    return tuple(result)


def _pooled(kind, value, pooling_ratio, pseudo_random, overlapping, seed):
    x = convert_to_tensor(value)
    ratios = pooling_ratio
    if isinstance(ratios, (int, float)):
        ratios = [1.0, float(ratios), float(ratios), 1.0]
    ratios = [float(r) for r in ratios]
    if len(ratios) == 1:
        ratios = [1.0, ratios[0], ratios[0], 1.0]
    if len(ratios) == 2:
        ratios = [1.0, *ratios, 1.0]
    if len(ratios) != 4 or ratios[0] != 1 or ratios[3] != 1 or min(ratios) < 1:
        raise ValueError(
            f"pooling_ratio is at least 1, and 1 for the batch and the channels; not {ratios}"
        )
    draws = tidemark.random.uniform([2, 1024], seed=seed or None)
    rows, columns = _sequences(x, tuple(ratios[1:3]), bool(pseudo_random), draws)
    result = FractionalMaxPool if kind == "max" else FractionalAvgPool
    return result(_regions(kind, x, rows, columns, bool(overlapping)), rows, columns)


def _windows(cuts, overlapping):
    """The number of the element at each place of each window, the last one where it ends early."""
    cuts = np.asarray(cuts.numpy())
    last = cuts[1:] - (0 if overlapping else 1)
    last = np.minimum(last, cuts[-1] - 1)
    width = int((last - cuts[:-1]).max()) + 1
    places = cuts[:-1, None] + np.arange(width)
    return np.minimum(places, last[:, None]), places <= last[:, None]


@sized_when_run(part_of="tf.nn.fractional_*_pool")
def _regions(kind, x, rows, columns, overlapping):
    down, down_good = _windows(rows, overlapping)
    across, across_good = _windows(columns, overlapping)
    y = call("gather", (x, convert_to_tensor(down)), {"axis": 1})
    y = call("gather", (y, convert_to_tensor(across)), {"axis": 3})
    # [batch, windows, rows of one, windows, columns of one, channels]
    if kind == "max":
        return call("max", (y,), {"axis": [2, 4]})
    weights = (down_good[:, :, None, None] & across_good[None, None]).astype(np.float64)
    weights = weights / weights.sum((1, 3), keepdims=True)
    weights = call("cast", (convert_to_tensor(weights[None, ..., None]),), {"dtype": x.dtype})
    return call("sum", (call("multiply", (y, weights), {}),), {"axis": [2, 4]})


@export("tf.nn.fractional_max_pool")
def fractional_max_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None
):
    """The greatest element of regions whose sizes differ by one and come in random order: the
    result, and where the regions of rows and columns begin."""
    return _pooled("max", value, pooling_ratio, pseudo_random, overlapping, seed)


@export("tf.nn.fractional_avg_pool")
def fractional_avg_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None
):
    """The mean of regions whose sizes differ by one and come in random order."""
    return _pooled("avg", value, pooling_ratio, pseudo_random, overlapping, seed)
