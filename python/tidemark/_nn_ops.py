"""Activations, normalisation and losses, made of elementwise ops and reductions."""

from __future__ import annotations

from tidemark._creation import cast, convert_to_tensor
from tidemark._export import export
from tidemark._static import must_differ, sizes_of
from tidemark._tidemark import Tensor, call, convert
from tidemark.errors import InvalidArgumentError


def _floating(value):
    value = convert_to_tensor(value)
    return cast(value, "float32") if value.dtype.is_integer else value


# --- activations ---------------------------------------------------------------------------------


@export("tf.nn.crelu")
def crelu(features, axis=-1, name=None):
    """relu of ``x`` and of ``-x``, side by side."""
    x = convert_to_tensor(features)
    return call("relu", (call("concat", (x, -x), {"axis": int(axis)}),), {})


# --- normalisation -------------------------------------------------------------------------------


@export("tf.nn.moments")
def moments(x, axes, shift=None, keepdims=False, name=None):
    """Mean and variance along the axes."""
    x = convert_to_tensor(x)
    wide = cast(x, "float32") if x.dtype.name in ("float16", "bfloat16") else x
    mean = call("mean", (wide,), {"axis": axes, "keepdims": True})
    square = call("squared_difference", (wide, mean), {})
    variance = call("mean", (square,), {"axis": axes, "keepdims": bool(keepdims)})
    if not keepdims:
        mean = call("reshape", (mean, sizes_of(variance)), {})
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


@export("tf.nn.bias_add")
def bias_add(value, bias, data_format=None, name=None):
    """Adds a vector along the channels: the last axis, or the second for "NC…" formats."""
    value, bias = convert_to_tensor(value), convert_to_tensor(bias)
    if data_format is not None and not data_format.startswith("N"):
        raise ValueError(
            f"`data_format` must be of the form `N...C` or `NC...`. Received: {data_format}"
        )
    first = data_format is not None and data_format.startswith("NC") and value.ndim > 2
    channels = value._shape_tuple()[1 if first else -1] if value.ndim > 1 else None
    if value.ndim < 2 or bias.ndim != 1 or must_differ(channels, bias.shape[0]):
        raise InvalidArgumentError(
            None,
            None,
            "[bias_add] Must provide as many biases as the channel dimension of the input tensor: "
            f"{bias.shape} vs. {channels} in {value.shape}",
        )
    if first:
        bias = call("reshape", (bias, (-1, *([1] * (value.ndim - 2)))), {})
    return value + bias


@export("tf.nn.dropout")
def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """Zeroes elements with probability ``rate`` and scales the others to keep the mean."""
    from tidemark._random.functions import uniform

    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x.dtype={x.dtype!r}"
        )
    if not isinstance(rate, Tensor) and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in [0, 1). Received: {rate}")
    shape = noise_shape
    if noise_shape is None:
        shape = x._shape_tuple() if x.shape.is_fully_defined() else call("shape", (x,))
    keep = uniform(shape, seed=seed, dtype=x.dtype) >= cast(rate, x.dtype)
    zero = convert(0, x._dtype_enum)
    return call("select", (keep, x / (1 - cast(rate, x.dtype)), zero), {})


# --- losses --------------------------------------------------------------------------------------


@export("tf.nn.l2_loss")
def l2_loss(t, name=None):
    """Half the sum of squares."""
    return call("sum", (call("square", (t,), {}),), {}) * 0.5


@export("tf.nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """The cross entropy of independent yes-or-no labels, without overflow."""
    if labels is None or logits is None:
        raise ValueError("Both `labels` and `logits` must be provided.")
    logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
    if not logits.shape.is_compatible_with(labels.shape):
        raise ValueError(
            "`logits` and `labels` must have the same shape, received "
            f"({logits.shape} vs {labels.shape})."
        )
    away = call("exp", (-call("abs", (logits,), {}),), {})
    return call("relu", (logits,), {}) - logits * labels + call("log1p", (away,), {})


@export("tf.nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """The cross entropy of the distribution of labels and the softmax of the logits."""
    logits = _floating(logits)
    labels = cast(labels, logits.dtype)
    axis = int(axis)
    if axis not in (-1, logits.ndim - 1):
        order = [d for d in range(logits.ndim) if d != axis % logits.ndim]
        order.append(axis % logits.ndim)
        logits = call("transpose", (logits,), {"perm": order})
        labels = call("transpose", (labels,), {"perm": order})
    return call("softmax_cross_entropy", (logits, labels), {})[0]


@export("tf.nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """The cross entropy of one right class each and the softmax of the logits."""
    labels, logits = convert_to_tensor(labels), _floating(logits)
    if labels.ndim != logits.ndim - 1 or not labels.shape.is_compatible_with(logits.shape[:-1]):
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={labels.shape} and logits.shape={logits.shape}"
        )
    if labels.dtype.name not in ("int32", "int64"):
        labels = cast(labels, "int64")
    return call("sparse_softmax_cross_entropy", (logits, labels), {})[0]
