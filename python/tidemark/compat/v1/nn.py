"""``tf.compat.v1.nn``: TensorFlow 1's argument orders."""

from __future__ import annotations

import tidemark as tf
from tidemark import nn as _nn
from tidemark._tensor.specs import CompositeTensor as _CompositeTensor
from tidemark.errors import UnimplementedError as _UnimplementedError
from tidemark.nn._ctc import beam_search as _beam_search
from tidemark.nn._normalization import fused_batch_norm as fused_batch_norm


def _one(first, second, names):
    if first is not None and second is not None:
        raise ValueError(f"Cannot specify both '{names[0]}' and '{names[1]}'.")
    return second if first is None else first


def max_pool(value=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None,
             input=None):  # fmt: skip
    """The largest element of each window."""
    value = _one(value, input, ("value", "input"))
    return _nn.max_pool2d(value, ksize, strides, padding, data_format)


def avg_pool(value=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None,
             input=None):  # fmt: skip
    """The mean of each window."""
    value = _one(value, input, ("value", "input"))
    return _nn.avg_pool2d(value, ksize, strides, padding, data_format)


def convolution(input, filter=None, padding=None, strides=None, dilation_rate=None, name=None,
                data_format=None, filters=None, dilations=None):  # fmt: skip
    """A convolution in as many dimensions as the input has."""
    return _nn.convolution(
        input,
        _one(filter, filters, ("filter", "filters")),
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=_one(dilation_rate, dilations, ("dilation_rate", "dilations")),
    )


def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME",
                     data_format="NHWC", name=None, input=None, filters=None,
                     dilations=None):  # fmt: skip
    """The gradient of a convolution as a layer of its own."""
    return _nn.conv2d_transpose(
        _one(value, input, ("value", "input")),
        _one(filter, filters, ("filter", "filters")),
        output_shape,
        strides,
        padding,
        data_format,
        dilations,
    )


def ctc_loss(labels, inputs=None, sequence_length=None, preprocess_collapse_repeated=False,
             ctc_merge_repeated=True, ignore_longer_outputs_than_inputs=False, time_major=True,
             logits=None):  # fmt: skip
    """Connectionist temporal classification; labels are sparse, the last class is the blank."""
    inputs = _one(inputs, logits, ("inputs", "logits"))
    if not isinstance(labels, _CompositeTensor):
        raise TypeError(f"Expected argument `labels` to be a SparseTensor, got {type(labels)}")
    if preprocess_collapse_repeated or not ctc_merge_repeated:
        raise _UnimplementedError(
            None, None, "ctc_loss collapses repeated labels after decoding, as is its default"
        )
    return _nn.ctc_loss(
        labels=labels,
        logits=inputs,
        label_length=None,
        logit_length=sequence_length,
        logits_time_major=time_major,
        blank_index=-1,
    )


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1,
                            merge_repeated=True):  # fmt: skip
    """The most likely label sequences, their repetitions merged unless told otherwise."""
    return _beam_search(inputs, sequence_length, beam_width, top_paths, merge_repeated)


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, dim=-1, name=None,
                                      axis=None):  # fmt: skip
    """Cross entropy with gradients to the logits alone."""
    _named(_sentinel, "softmax_cross_entropy_with_logits", labels=labels, logits=logits)
    labels = tf.stop_gradient(labels)
    axis = dim if axis is None else axis
    return _nn.softmax_cross_entropy_with_logits(labels, logits, axis, name)


def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """Cross entropy of independent classes."""
    _named(_sentinel, "sigmoid_cross_entropy_with_logits", labels=labels, logits=logits)
    return _nn.sigmoid_cross_entropy_with_logits(labels, logits, name)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """Cross entropy with one class an example."""
    _named(_sentinel, "sparse_softmax_cross_entropy_with_logits", labels=labels, logits=logits)
    return _nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def in_top_k(predictions, targets, k, name=None):
    """Whether each target is among the largest predictions."""
    return _nn.in_top_k(targets, predictions, k, name)


def _named(sentinel, function, **given):
    if sentinel is not None or None in given.values():
        raise ValueError(
            f"Only call `{function}` with named arguments (labels=..., logits=..., ...)"
        )


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """A part of the elements becomes zero, the rest larger."""
    if keep_prob is not None and rate is not None:
        raise ValueError("rate and keep_prob are the same thing told twice; give one")
    if rate is None:
        if keep_prob is None:
            raise ValueError("You must provide a rate to dropout.")
        if isinstance(keep_prob, (list, tuple)):
            raise ValueError(f"keep_prob must be one number, got {keep_prob}")
        rate = 1 - keep_prob
    return _nn.dropout(x, rate, noise_shape, seed)


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """(mean, variance) over the axes."""
    return _nn.moments(x, axes, shift, bool(_one(keepdims, keep_dims, ("keepdims", "keep_dims"))))


def conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True,
           data_format="NHWC", dilations=(1, 1, 1, 1), name=None, filters=None):  # fmt: skip
    """A convolution over two dimensions."""
    filters = filters if filter is None else filter
    return _nn.conv2d(input, filters, strides, padding, data_format, list(dilations), name)


def conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None,
           data_format=None, name=None, input=None, dilations=None):  # fmt: skip
    """A convolution over one dimension."""
    value = input if value is None else value
    return _nn.conv1d(value, filters, stride, padding, data_format or "NWC", dilations, name)


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None,
                     dilations=None):  # fmt: skip
    """A convolution a channel."""
    return _nn.depthwise_conv2d(input, filter, strides, padding, data_format, dilations or rate)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None,
                     name=None, data_format=None, dilations=None):  # fmt: skip
    """A convolution a channel, then one over the channels."""
    return _nn.separable_conv2d(
        input, depthwise_filter, pointwise_filter, strides, padding, data_format,
        dilations or rate,
    )  # fmt: skip


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True,
                     max_norm=None):  # fmt: skip
    """Rows of a table."""
    return _nn.embedding_lookup(params, ids, max_norm)


def softmax(logits, axis=None, name=None, dim=None):
    """Exponentials that add up to one."""
    axis = dim if axis is None else axis
    return _nn.softmax(logits, -1 if axis is None else axis)


def log_softmax(logits, axis=None, name=None, dim=None):
    """The logarithm of the softmax."""
    axis = dim if axis is None else axis
    return _nn.log_softmax(logits, -1 if axis is None else axis)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """Vectors of length one along the axis."""
    return _nn.l2_normalize(x, dim if axis is None else axis, epsilon)


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None,
                                       targets=None):  # fmt: skip
    """Cross entropy in which what is there weighs more."""
    return _nn.weighted_cross_entropy_with_logits(
        targets if labels is None else labels, logits, pos_weight
    )


def __getattr__(name):
    return getattr(_nn, name)
