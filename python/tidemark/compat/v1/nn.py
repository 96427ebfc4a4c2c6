"""``tf.compat.v1.nn``: TensorFlow 1's argument orders."""

from __future__ import annotations

from tidemark import nn as _nn
from tidemark._ctc_ops import beam_search as _beam_search
from tidemark._nn_more import fused_batch_norm as fused_batch_norm
from tidemark._type_specs import CompositeTensor as _CompositeTensor


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
        from tidemark.errors import UnimplementedError

        raise UnimplementedError(
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


def __getattr__(name):
    return getattr(_nn, name)
