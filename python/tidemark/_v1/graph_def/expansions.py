"""Ops of ours that are several of TensorFlow's: each written with those."""

from __future__ import annotations

import math

import tidemark as tf
from tidemark._tidemark import call


def _gelu(x, approximate):
    if approximate:
        inner = tf.cast(math.sqrt(2 / math.pi), x.dtype) * (x + 0.044715 * x * x * x)
        return 0.5 * x * (1.0 + tf.tanh(inner))
    return 0.5 * x * (1.0 + tf.math.erf(x * (1 / math.sqrt(2))))


def _logsumexp(x, axis, keepdims):
    highest = call("max", (x,), {"axis": axis, "keepdims": True})
    highest = tf.where(tf.math.is_finite(highest), highest, tf.zeros_like(highest))
    total = call("sum", (tf.exp(x - highest),), {"axis": axis, "keepdims": True})
    out = tf.math.log(total) + highest
    if keepdims:
        return out
    return call("sum", (out,), {"axis": axis, "keepdims": False})  # each axis has one element


def _variance(x, axis, keepdims):
    mean = call("mean", (x,), {"axis": axis, "keepdims": True})
    return call(
        "mean", (tf.math.squared_difference(x, mean),), {"axis": axis, "keepdims": keepdims}
    )


def _moved(function):
    """A function of the last axis, for any: the axis is moved there and back."""

    def moved(*tensors, axis, **attrs):
        rank = tensors[0].shape.rank
        axis = axis % rank
        order = [i for i in range(rank) if i != axis] + [axis]
        back = sorted(range(rank), key=order.__getitem__)
        there = [call("transpose", (t,), {"perm": order}) for t in tensors]
        return call("transpose", (function(*there, **attrs),), {"perm": back})

    return moved


def _softmax_grad(softmax, dy, axis):
    inner = call("sum", (dy * softmax,), {"axis": [axis], "keepdims": True})
    return (dy - inner) * softmax


def _log_softmax_grad(log_softmax, dy, axis):
    return dy - tf.exp(log_softmax) * call("sum", (dy,), {"axis": [axis], "keepdims": True})


def _cross_entropy_grad(logits, labels, log_sum_exp, dloss):
    return (tf.nn.softmax(logits) - labels) * tf.expand_dims(dloss, -1)


def _sparse_cross_entropy_grad(logits, labels, log_sum_exp, dloss):
    classes = tf.shape(logits)[-1]
    hot = call("one_hot", (labels, classes, tf.cast(1, logits.dtype), tf.cast(0, logits.dtype)),
               {"axis": -1})  # fmt: skip
    return (tf.nn.softmax(logits) - hot) * tf.expand_dims(dloss, -1)


def _batch_norm(x, scale, offset, epsilon):
    axes = list(range(x.shape.rank - 1))
    wide = tf.cast(x, scale.dtype) if x.dtype != scale.dtype else x
    mean = call("mean", (wide,), {"axis": axes, "keepdims": False})
    variance = _variance(wide, axes, False)
    out = (wide - mean) * (tf.math.rsqrt(variance + epsilon) * scale) + offset
    return [tf.cast(out, x.dtype) if x.dtype != scale.dtype else out, mean, variance]


def _layer_norm(x, scale, offset, epsilon):
    mean = call("mean", (x,), {"axis": [-1], "keepdims": True})
    rstd = tf.math.rsqrt(_variance(x, [-1], True) + epsilon)
    return [(x - mean) * rstd * scale + offset, tf.squeeze(mean, [-1]), tf.squeeze(rstd, [-1])]


def _rms_norm(x, scale, epsilon):
    square = call("mean", (tf.square(x),), {"axis": [-1], "keepdims": True})
    rstd = tf.math.rsqrt(square + epsilon)
    return [x * rstd * scale, tf.squeeze(rstd, [-1])]


def _attention(query, key, value, mask, scale, causal):
    scores = tf.matmul(query, key, transpose_b=True) * scale
    low = tf.cast(scores.dtype.min / 2, scores.dtype)
    if causal:
        sizes = [scores.shape[-2], scores.shape[-1]]
        rows = tf.expand_dims(tf.range(sizes[0]), -1)
        seen = tf.range(sizes[1]) <= rows + (sizes[1] - sizes[0])
        scores = tf.where(seen, scores, low)
    if mask.shape.rank != 0:
        scores = tf.where(mask, scores, low)
    out = tf.matmul(tf.nn.softmax(scores), value)
    return [out, _logsumexp(scores, [-1], False)]


def _boolean_mask(tensor, mask, axis):
    at = tf.squeeze(call("nonzero", (mask,), {}), [1])
    return call("gather", (tensor, at), {"axis": axis or 0, "batch_dims": 0})


def _cast_like(make):
    def made(input, dtype):
        return make(tf.cast(input, dtype))

    return made


# op names: what TensorFlow has no op for, as a function of inputs and attributes.
EXPANSIONS = {
    "gelu": _gelu,
    "swish": lambda x, beta: x * tf.sigmoid(x * beta),
    "log_sigmoid": lambda x: -tf.math.softplus(-x),
    "logsumexp": _logsumexp,
    "variance": _variance,
    "std": lambda x, axis, keepdims: tf.sqrt(_variance(x, axis, keepdims)),
    "logical_xor": lambda x, y: tf.logical_and(
        tf.logical_or(x, y), tf.logical_not(tf.logical_and(x, y))
    ),
    "softmax": _moved(tf.nn.softmax),
    "log_softmax": _moved(tf.nn.log_softmax),
    "softmax_grad": _softmax_grad,
    "log_softmax_grad": _log_softmax_grad,
    "softmax_cross_entropy_grad": _cross_entropy_grad,
    "sparse_softmax_cross_entropy_grad": _sparse_cross_entropy_grad,
    "batch_norm": _batch_norm,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "attention": _attention,
    "boolean_mask": _boolean_mask,
    "zeros_like": _cast_like(tf.zeros_like),
    "ones_like": _cast_like(tf.ones_like),
}
