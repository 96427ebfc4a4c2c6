"""Activations made of other ops, and biases."""

from __future__ import annotations

from tidemark._export import export
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import must_differ
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError


@export("tf.nn.crelu")
def crelu(features, axis=-1, name=None):
    """relu of ``x`` and of ``-x``, side by side."""
    x = convert_to_tensor(features)
    return call("relu", (call("concat", (x, -x), {"axis": int(axis)}),), {})


@export("tf.nn.bias_add")
def bias_add(value, bias, data_format=None, name=None):
    """Adds a vector along the channels: the last axis, or the second for "NC…" formats."""
    value, bias = convert_to_tensor(value), convert_to_tensor(bias)
    if data_format is not None and not data_format.startswith("N"):
        raise ValueError(
            f"`data_format` must be of the form `N...C` or `NC...`. Received: {data_format}"
        )
    first = data_format is not None and data_format.startswith("NC")
    if value.ndim is None or bias.ndim is None:
        if first:
            raise ValueError(f"data_format {data_format} needs a tensor of known rank, got {value}")
        return value + bias
    first = first and value.ndim > 2
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
