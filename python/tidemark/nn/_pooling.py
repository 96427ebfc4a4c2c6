"""Poolings of ``tf.nn``: TensorFlow's names over the ops ``max_pool`` and ``avg_pool``."""

from __future__ import annotations

from tidemark._export import export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import call
from tidemark.dtypes import int64
from tidemark.nn import _windows


def _pool(op, x, ksize, strides, padding, data_format, spatial, dilations=None):
    first = _windows.is_channels_first(data_format, spatial)
    attrs = {
        "ksize": _windows.per_dimension(ksize, spatial, first, "ksize"),
        "strides": _windows.per_dimension(strides, spatial, first, "strides"),
        "dilations": _windows.per_dimension(dilations, spatial, first, "dilations"),
        **_windows.padding_attrs(padding, spatial, first),
    }
    images = _windows.to_channels_last(convert_to_tensor(x), first)
    return _windows.from_channels_last(call(op, (images,), attrs), first)


def _spatial(x):
    x = convert_to_tensor(x)
    if not 3 <= x.ndim <= 5:
        raise ValueError(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={x.shape} of rank "
            f"{x.shape.rank}."
        )
    return x, x.ndim - 2


@export("tf.nn.max_pool")
def max_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The greatest element of each window, over one to three spatial dimensions."""
    x, spatial = _spatial(input)
    return _pool("max_pool", x, ksize, strides, padding, data_format, spatial)


@export("tf.nn.max_pool1d")
def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """max_pool over one spatial dimension."""
    return _pool("max_pool", input, ksize, strides, padding, data_format, 1)


@export("tf.nn.max_pool2d")
def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """max_pool over two spatial dimensions."""
    return _pool("max_pool", input, ksize, strides, padding, data_format, 2)


@export("tf.nn.max_pool3d")
def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """max_pool over three spatial dimensions."""
    return _pool("max_pool", input, ksize, strides, padding, data_format, 3)


@export("tf.nn.avg_pool")
def avg_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The mean of each window, over one to three spatial dimensions; padding does not count."""
    x, spatial = _spatial(input)
    return _pool("avg_pool", x, ksize, strides, padding, data_format, spatial)


@export("tf.nn.avg_pool1d")
def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """avg_pool over one spatial dimension."""
    return _pool("avg_pool", input, ksize, strides, padding, data_format, 1)


@export("tf.nn.avg_pool2d")
def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """avg_pool over two spatial dimensions."""
    return _pool("avg_pool", input, ksize, strides, padding, data_format, 2)


@export("tf.nn.avg_pool3d")
def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """avg_pool over three spatial dimensions."""
    return _pool("avg_pool", input, ksize, strides, padding, data_format, 3)


@export("tf.nn.pool")
def pool(
    input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None,
    dilations=None, name=None,
):  # fmt: skip
    """Pooling of type "MAX" or "AVG"."""
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"`pooling_type` must be 'MAX' or 'AVG'. Received: {pooling_type!r}")
    x, spatial = _spatial(input)
    op = "max_pool" if pooling_type == "MAX" else "avg_pool"
    return _pool(op, x, window_shape, strides, padding, data_format, spatial, dilations)


@export("tf.nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input, ksize, strides, padding, data_format="NHWC", output_dtype=int64,
    include_batch_in_index=False, name=None,
):  # fmt: skip
    """max_pool2d, and where in the image the greatest elements lie."""
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other than 'NHWC' are not supported. Received: {data_format}"
        )
    attrs = {
        "ksize": _windows.per_dimension(ksize, 2, False, "ksize"),
        "strides": _windows.per_dimension(strides, 2, False, "strides"),
        **_windows.padding_attrs(padding, 2, False),
        "include_batch_in_index": bool(include_batch_in_index),
    }
    y, where = call("max_pool_with_argmax", (convert_to_tensor(input),), attrs)
    return y, cast(where, output_dtype)
