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


def _spatial_numbers(numbers, count):
    """Those of the spatial axes, where numbers of batch and channels may stand around them."""
    numbers = list(numbers) or [1]
    if len(numbers) == 1:
        return numbers * count
    return numbers if len(numbers) == count else numbers[1:-1]


def _edges(explicit_paddings, count):
    """[before, after] of each spatial axis."""
    numbers = list(explicit_paddings)
    if len(numbers) > 2 * count:
        numbers = numbers[2:-2]
    return [numbers[at : at + 2] for at in range(0, 2 * count, 2)]


def _convolution(input, filters, strides, padding, explicit_paddings, dilations):
    """Of rows as of pictures one row high; groups of volumes one by one."""
    rank = filters.shape.rank
    if rank == 3:
        attrs = {
            "strides": [1, *_spatial_numbers(strides, 1)],
            "dilations": [1, *_spatial_numbers(dilations, 1)],
            "padding": padding,
            "explicit_paddings": [],
        }
        if padding == "EXPLICIT":
            attrs["explicit_paddings"] = [0, 0, *_edges(explicit_paddings, 1)[0]]
        made = call("convolution", (tf.expand_dims(input, 1), tf.expand_dims(filters, 0)), attrs)
        return tf.squeeze(made, [1])
    channels = None if input.shape.rank is None else input.shape[-1]
    if rank != 5 or channels is None:
        return None
    if padding == "EXPLICIT":
        padding = "VALID"
        input = tf.pad(input, [[0, 0], *_edges(explicit_paddings, 3), [0, 0]])
    attrs = {"strides": strides, "padding": padding, "dilations": dilations}
    groups = channels // filters.shape[-2]
    parts = zip(tf.split(input, groups, -1), tf.split(filters, groups, -1), strict=True)
    return tf.concat([call("convolution", pair, attrs) for pair in parts], -1)


def _pool(kind):
    """Windows whose padding does not count, over what is padded: with the least number, or beside
    how many of a window count. Of rows as of pictures one row high."""

    def pool(input, ksize, strides, padding, explicit_paddings, dilations):
        rank = input.shape.rank
        if rank not in (3, 4, 5) or set(dilations) - {1}:
            return None
        count = rank - 2
        size, step = _spatial_numbers(ksize, count), _spatial_numbers(strides, count)
        pads = None
        if padding == "EXPLICIT":
            padding, pads = "VALID", [[0, 0], *_edges(explicit_paddings, count), [0, 0]]

        def windows(x):
            if rank == 3:
                attrs = {"ksize": [1, *size], "strides": [1, *step], "padding": padding}
                return tf.squeeze(call(kind, (tf.expand_dims(x, 1),), attrs), [1])
            return call(kind, (x,), {"ksize": size, "strides": step, "padding": padding})

        if pads is None:
            return windows(input)
        if kind == "max_pool":
            return windows(tf.pad(input, pads, constant_values=input.dtype.min))
        return windows(tf.pad(input, pads)) / windows(tf.pad(tf.ones_like(input), pads))

    return pool


def _multiply_fixed_point(x, multiplier, shift, halves_away):
    wide = [tf.cast(t, tf.int64) for t in (multiplier, shift)]
    up, down = (tf.clip_by_value(sign * wide[1], 0, 31) for sign in (1, -1))
    shifted = tf.bitwise.left_shift(x, tf.cast(up, tf.int32))
    product = tf.cast(shifted, tf.int64) * wide[0] + (1 << 30)
    high = tf.bitwise.right_shift(product, tf.constant(31, tf.int64))
    one = tf.constant(1, tf.int64)
    high_rounded = high + tf.bitwise.right_shift(tf.bitwise.left_shift(one, down), one)
    if halves_away:
        high_rounded -= tf.cast(tf.logical_and(high < 0, down > 0), tf.int64)
    return tf.cast(tf.bitwise.right_shift(high_rounded, down), tf.int32)


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
    "concat": lambda only, axis: only,
    "convolution": _convolution,
    "max_pool": _pool("max_pool"),
    "avg_pool": _pool("avg_pool"),
    "multiply_fixed_point": _multiply_fixed_point,
    "zeros_like": _cast_like(tf.zeros_like),
    "ones_like": _cast_like(tf.ones_like),
}
