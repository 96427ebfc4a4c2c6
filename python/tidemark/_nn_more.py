"""Losses, statistics and lookups of ``tf.nn`` made of other ops, and the fused normalisations."""

from __future__ import annotations

from tidemark._at_run import sized_when_run
from tidemark._creation import cast, convert_to_tensor
from tidemark._export import dispatching, export
from tidemark._static import known_size, sizes_of
from tidemark._tidemark import call, convert

# --- normalisation -------------------------------------------------------------------------------


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


# --- statistics ----------------------------------------------------------------------------------


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


# --- losses --------------------------------------------------------------------------------------


@export("tf.nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """The sigmoid cross entropy in which the positive labels count ``pos_weight`` times."""
    logits = convert_to_tensor(logits)
    labels = cast(labels, logits.dtype)
    if not logits.shape.is_compatible_with(labels.shape):
        raise ValueError(
            f"`logits` and `labels` must have the same shape, received ({logits.shape} vs "
            f"{labels.shape})."
        )
    weight = (cast(pos_weight, logits.dtype) - 1) * labels + 1
    away = call("log1p", (call("exp", (-call("abs", (logits,), {}),), {}),), {})
    return (1 - labels) * logits + weight * (away + call("relu", (-logits,), {}))


@export("tf.nn.log_poisson_loss")
def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """exp(log_input) - targets * log_input, plus Stirling's term for the targets where asked."""
    log_input = convert_to_tensor(log_input)
    targets = cast(targets, log_input.dtype)
    if not log_input.shape.is_compatible_with(targets.shape):
        raise ValueError(
            "`log_input` and `targets` must have the same shape, received "
            f"({log_input.shape} vs {targets.shape})."
        )
    loss = call("exp", (log_input,), {}) - log_input * targets
    if not compute_full_loss:
        return loss
    one = convert(1, targets._dtype_enum)
    safe = call("maximum", (targets, one), {})
    log = call("log", (safe,), {})
    stirling = safe * log - safe + 0.5 * call("log", (safe * (2 * 3.141592653589793),), {})
    zero = call("zeros_like", (targets,), {})
    return loss + call("select", (targets > one, stirling, zero), {})


# --- lookups -------------------------------------------------------------------------------------


@export("tf.nn.embedding_lookup")
@dispatching
def embedding_lookup(params, ids, max_norm=None, name=None):
    """The rows of ``params`` that ``ids`` names; several parts hold the rows in turn ("mod")."""
    parts = list(params) if isinstance(params, (list, tuple)) else [params]
    if not parts:
        raise ValueError("Argument `params` should not be empty.")
    ids = convert_to_tensor(ids)
    if len(parts) == 1:
        rows = call("gather", (parts[0], ids), {"axis": 0})
    else:
        rows = _lookup_in_parts([convert_to_tensor(p) for p in parts], ids)
    return rows if max_norm is None else _clipped(rows, max_norm, ids.ndim)


def _lookup_in_parts(parts, ids):
    """Row i lies in part i % parts at i // parts: one table made of them side by side."""
    count = len(parts)
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + sizes_of(part)[0])
    table = call("concat", tuple(parts), {"axis": 0})
    of_part = cast(convert_to_tensor(starts[:-1]), ids.dtype)
    part, row = call("floormod", (ids, count), {}), call("floordiv", (ids, count), {})
    return call("gather", (table, call("gather", (of_part, part), {}) + row), {"axis": 0})


def _clipped(rows, max_norm, lead):
    """Rows longer than ``max_norm`` made that long."""
    axes = list(range(lead, rows.ndim))
    square = call("sum", (call("square", (rows,), {}),), {"axis": axes, "keepdims": True})
    norm = call("sqrt", (square,), {})
    limit = cast(max_norm, rows.dtype)
    return rows * limit / call("maximum", (norm, limit), {})


# --- dropout -------------------------------------------------------------------------------------


@export("tf.nn.experimental.stateless_dropout")
def stateless_dropout(x, rate, seed, rng_alg="auto_select", noise_shape=None, name=None):
    """Dropout whose pattern depends on the seed alone."""
    from tidemark.random import stateless_uniform

    def sampler(shape, dtype):
        return stateless_uniform(shape, seed=seed, dtype=dtype)

    return general_dropout(x, rate, sampler, noise_shape, name)


@export("tf.nn.experimental.general_dropout")
def general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None):
    """Dropout with random numbers in [0, 1) from ``uniform_sampler(shape, dtype)``."""
    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x.dtype={x.dtype!r}"
        )
    if isinstance(rate, (int, float)) and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in [0, 1). Received: {rate}")
    shape = sizes_of(x) if noise_shape is None else noise_shape
    rate = cast(rate, x.dtype)
    keep = uniform_sampler(shape, x.dtype) >= rate
    return call("select", (keep, x / (1 - rate), convert(0, x._dtype_enum)), {})


# --- attention -----------------------------------------------------------------------------------


@export("tf.nn.experimental.scaled_dot_product_attention")
@sized_when_run
def scaled_dot_product_attention(
    query, key, value, mask=None, is_causal=False, scale=None, name=None
):
    """softmax(query keyᵀ scale) value over [..., length, depth], without storing the scores.

    A boolean mask says which keys each query sees. A mask of numbers is added to the scores; that
    form does store them. ``scale`` is 1 / sqrt(depth) unless given.
    """
    query = convert_to_tensor(query)
    if scale is None:
        scale = max(1, known_size(query, -1)) ** -0.5
    mask = convert_to_tensor(True) if mask is None else convert_to_tensor(mask)
    if 0 < mask.ndim < query.ndim:
        lead = [1] * (query.ndim - mask.ndim)
        mask = call("reshape", (mask, [*lead, *sizes_of(mask)]), {})
    inputs = [convert_to_tensor(t) for t in (query, key, value)]
    if mask.dtype.name == "bool":
        attrs = {"scale": float(scale), "causal": bool(is_causal)}
        return call("attention", (*inputs, mask), attrs)[0]
    if query.dtype.name in ("float16", "bfloat16"):
        inputs = [cast(t, "float32") for t in inputs]
    return cast(_with_added_mask(*inputs, mask, is_causal, scale), query.dtype)


def _with_added_mask(query, key, value, mask, is_causal, scale):
    scores = call("matmul", (query * float(scale), key), {"transpose_b": True})
    scores = scores + cast(mask, scores.dtype)
    if is_causal:
        ones = call("fill", (list(sizes_of(scores)[-2:]), convert_to_tensor(True)), {})
        seen = call("band_part", (ones, -1, 0), {})
        lowest = convert(float("-inf"), scores._dtype_enum)
        scores = call("select", (seen, scores, lowest), {})
    return call("matmul", (call("softmax", (scores,), {}), value), {})
