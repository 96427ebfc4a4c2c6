"""Normalisation and the statistics it needs: ``tf.nn.moments``, ``batch_normalization``, …"""

from __future__ import annotations

from tidemark._export import export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.static import sizes_of
from tidemark._tidemark import call, convert


def _floating(value):
    value = convert_to_tensor(value)
    return cast(value, "float32") if value.dtype.is_integer else value


@export("tf.nn.moments")
def moments(x, axes, shift=None, keepdims=False, name=None):
    """Mean and variance along the axes."""
    x = convert_to_tensor(x)
    wide = cast(x, "float32") if x.dtype.name in ("float16", "bfloat16") else x
    mean = call("mean", (wide,), {"axis": axes, "keepdims": True})
    square = call("squared_difference", (wide, mean), {})
    variance = call("mean", (square,), {"axis": axes, "keepdims": bool(keepdims)})
    if not keepdims:
        is_open = variance.shape.rank is None
        sizes = call("shape", (variance,), {}) if is_open else sizes_of(variance)
        mean = call("reshape", (mean, sizes), {})
    return cast(mean, x.dtype), cast(variance, x.dtype)


@export("tf.nn.batch_normalization")
def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """``(x - mean) / sqrt(variance + epsilon) * scale + offset``."""
    factor = call("rsqrt", (convert_to_tensor(variance) + variance_epsilon,), {})
    if scale is not None:
        factor = factor * scale
    shifted = -convert_to_tensor(mean) * factor
    if offset is not None:
        shifted = offset + shifted
    return convert_to_tensor(x) * factor + shifted


@export("tf.nn.experimental.layer_norm")
def layer_norm(x, scale=None, offset=None, epsilon=1e-5, name=None):
    """Normalises the last axis to mean 0 and variance 1 in one op; times scale plus offset."""
    x = convert_to_tensor(x)
    width = (sizes_of(x)[-1],) if x.ndim else (1,)
    scale = _filled(1, width, x) if scale is None else scale
    offset = _filled(0, width, x) if offset is None else offset
    return call("layer_norm", (x, scale, offset), {"epsilon": float(epsilon)})[0]


@export("tf.nn.experimental.rms_norm")
def rms_norm(x, scale=None, epsilon=1e-6, name=None):
    """Divides by the root of the mean square over the last axis in one op; times scale."""
    x = convert_to_tensor(x)
    width = (sizes_of(x)[-1],) if x.ndim else (1,)
    scale = _filled(1, width, x) if scale is None else scale
    return call("rms_norm", (x, scale), {"epsilon": float(epsilon)})[0]


def _filled(value, shape, like):
    return call("fill", (list(shape), convert(value, like._dtype_enum)), {})


def _batch_norm_input(x, channels_first):
    x = convert_to_tensor(x)
    if not channels_first:
        return x
    return call("transpose", (x,), {"perm": [0, *range(2, x.ndim), 1]})


@export("tf.nn.experimental.fused_batch_norm")
def fused_batch_norm(
    x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format="NHWC", is_training=True,
    name=None, exponential_avg_factor=1.0,
):  # fmt: skip
    """Batch normalisation in one op, as ``tf.compat.v1.nn.fused_batch_norm``: y, mean, variance."""
    channels_first = data_format in ("NCHW", "NCDHW")
    if not channels_first and data_format not in ("NHWC", "NDHWC"):
        raise ValueError(f"data_format must be 'NHWC', 'NCHW', 'NDHWC' or 'NCDHW': {data_format!r}")
    if is_training and (mean is None) != (variance is None):
        raise ValueError("Give both mean and variance, or neither of them")
    if not is_training and (mean is None or variance is None):
        raise ValueError("Both `mean` and `variance` must be given when `is_training` is False")
    x = _batch_norm_input(x, channels_first)
    epsilon = max(float(epsilon), 1.001e-5)
    if not is_training:
        mean, variance = convert_to_tensor(mean), convert_to_tensor(variance)
        factor = call("rsqrt", (variance + epsilon,), {}) * scale
        y = cast(cast(x, factor.dtype) * factor + (offset - mean * factor), x.dtype)
    else:
        y, batch_mean, batch_variance = call("batch_norm", (x, scale, offset), {"epsilon": epsilon})
        rows = cast(call("size", (x,), {}), batch_mean.dtype)
        rows = rows / cast(call("size", (batch_mean,), {}), batch_mean.dtype)
        others = call("maximum", (rows - 1.0, convert(1.0, rows._dtype_enum)), {})
        batch_variance = batch_variance * (rows / others)  # as estimated for the whole population
        if mean is None or exponential_avg_factor == 1.0:
            mean, variance = batch_mean, batch_variance
        else:
            part = float(exponential_avg_factor)
            mean = batch_mean * part + convert_to_tensor(mean) * (1.0 - part)
            variance = batch_variance * part + convert_to_tensor(variance) * (1.0 - part)
    if channels_first:
        y = call("transpose", (y,), {"perm": [0, y.ndim - 1, *range(1, y.ndim - 1)]})
    return y, mean, variance


@export("tf.nn.local_response_normalization", "tf.nn.lrn")
def local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    """Divides by a power of the sum of squares over the neighbouring channels."""
    x = convert_to_tensor(input)
    radius = int(depth_radius)
    square = call("square", (x,), {})
    paddings = [[0, 0]] * (x.ndim - 1) + [[radius, radius]]
    padded = call("pad", (square, paddings, convert(0, x._dtype_enum)), {})
    zero = [0] * (x.ndim - 1)
    total = None
    for shift in range(2 * radius + 1):
        part = call("slice", (padded, [*zero, shift], list(sizes_of(x))), {})
        total = part if total is None else total + part
    return x / call("pow", (total * float(alpha) + float(bias), cast(float(beta), x.dtype)), {})


@export("tf.nn.sufficient_statistics")
def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """Count, sum and sum of squares along the axes, from which moments are made."""
    x = convert_to_tensor(x)
    axes = sorted({int(a) % x.ndim for a in axes})
    count = 1
    for axis in axes:
        count = count * sizes_of(x)[axis]
    moved = x if shift is None else x - shift
    square = call("square", (moved,), {})
    attrs = {"axis": axes, "keepdims": bool(keepdims)}
    sums = call("sum", (moved,), attrs), call("sum", (square,), attrs)
    return cast(count, x.dtype), *sums, None if shift is None else convert_to_tensor(shift)


@export("tf.nn.normalize_moments")
def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """Mean and variance from sufficient statistics."""
    counts = convert_to_tensor(counts)
    mean = convert_to_tensor(mean_ss) / counts
    variance = convert_to_tensor(variance_ss) / counts - call("square", (mean,), {})
    return (mean if shift is None else mean + shift), variance


@export("tf.nn.weighted_moments")
def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """Mean and variance along the axes, each element counted by its weight."""
    x = convert_to_tensor(x)
    narrow = x.dtype.name in ("float16", "bfloat16")
    wide = cast(x, "float32") if narrow else x
    weights = cast(convert_to_tensor(frequency_weights), wide.dtype)
    kept = {"axis": axes, "keepdims": True}
    spread = weights + call("zeros_like", (wide,), {})
    total = call("sum", (spread,), kept)
    mean = call("sum", (spread * wide,), kept) / total
    variance = call("sum", (spread * call("squared_difference", (wide, mean), {}),), kept) / total
    if not keepdims:
        mean, variance = (call("squeeze", (t,), {"axis": axes}) for t in (mean, variance))
    return cast(mean, x.dtype), cast(variance, x.dtype)


@export("tf.nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None
):
    """``tf.nn.batch_normalization`` with the arguments of long ago."""
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)
