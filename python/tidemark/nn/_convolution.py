"""Convolutions of ``tf.nn``: TensorFlow's names over the ops ``convolution`` and its gradients."""

from __future__ import annotations

from tidemark._export import export
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import must_differ, sizes_of
from tidemark._tidemark import Tensor, call, is_symbolic, narrow_shape
from tidemark.nn import _windows


def _attrs(strides, padding, dilations, spatial, first):
    return {
        "strides": _windows.per_dimension(strides, spatial, first, "strides"),
        "dilations": _windows.per_dimension(dilations, spatial, first, "dilations"),
        **_windows.padding_attrs(padding, spatial, first),
    }


def _convolve(x, filters, strides, padding, data_format, dilations, spatial):
    first = _windows.is_channels_first(data_format, spatial)
    attrs = _attrs(strides, padding, dilations, spatial, first)

    def run(images):
        images = _windows.to_channels_last(images, first)
        return _windows.from_channels_last(call("convolution", (images, filters), attrs), first)

    return _windows.with_one_batch(x, spatial, run)


@export("tf.nn.conv1d")
def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    """Convolution over one spatial dimension."""
    return _convolve(input, filters, stride, padding, data_format, dilations, 1)


@export("tf.nn.conv2d")
def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """Convolution of images [batch, height, width, channels] with [h, w, in, out]."""
    return _convolve(input, filters, strides, padding, data_format, dilations, 2)


@export("tf.nn.conv3d")
def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    """Convolution over three spatial dimensions."""
    return _convolve(input, filters, strides, padding, data_format, dilations, 3)


@export("tf.nn.convolution")
def convolution(
    input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None
):
    """Convolution over as many dimensions as the filter has."""
    filters = convert_to_tensor(filters)
    return _convolve(input, filters, strides, padding, data_format, dilations, filters.ndim - 2)


@export("tf.nn.atrous_conv2d")
def atrous_conv2d(value, filters, rate, padding, name=None):
    """Convolution whose windows take every ``rate``-th pixel."""
    return _convolve(value, filters, 1, padding, "NHWC", rate, 2)


# --- transposed ----------------------------------------------------------------------------------


def _sizes(shape, first):
    """The shape with the channels last, as a list or a tensor."""
    if isinstance(shape, Tensor):
        if not first:
            return shape
        order = [0, *range(2, shape._shape_tuple()[0]), 1]
        return call("gather", (shape, order), {"axis": 0})
    sizes = [v if isinstance(v, Tensor) else int(v) for v in shape]
    sizes = [sizes[0], *sizes[2:], sizes[1]] if first else sizes
    return convert_to_tensor(sizes) if any(isinstance(v, Tensor) for v in sizes) else sizes


def _with_sizes_that_follow(x, filters, sizes, attrs):
    """Both with those of their unknown sizes that the shape of the result tells."""
    known = not isinstance(sizes, Tensor)
    if not known or not is_symbolic(x) or x.shape.rank != len(sizes):
        return x, filters
    if attrs["padding"] == "SAME":
        steps = zip(sizes[1:-1], attrs["strides"], strict=True)
        spatial = [-(-size // stride) for size, stride in steps]
        x = call("identity", (x,), {})
        narrow_shape(x, [sizes[0], *spatial, x.shape[-1]])
    grouped = filters.shape.rank and must_differ(filters.shape[-2], sizes[-1])
    if is_symbolic(filters) and filters.shape.rank == len(sizes) and not grouped:
        filters = call("identity", (filters,), {})
        narrow_shape(filters, [*filters.shape.as_list()[:-2], sizes[-1], filters.shape[-1]])
    return x, filters


def _transposed(x, filters, shape, strides, padding, data_format, dilations, spatial):
    first = _windows.is_channels_first(data_format, spatial)
    attrs = _attrs(strides, padding, dilations, spatial, first)
    x = _windows.to_channels_last(convert_to_tensor(x), first)
    sizes = _sizes(shape, first)
    x, filters = _with_sizes_that_follow(x, convert_to_tensor(filters), sizes, attrs)
    y = call("convolution_input_grad", (sizes, filters, x), attrs)
    return _windows.from_channels_last(y, first)


@export("tf.nn.conv1d_transpose")
def conv1d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None,
    name=None,
):  # fmt: skip
    """The transpose of conv1d: what its gradient does to the output."""
    return _transposed(input, filters, output_shape, strides, padding, data_format, dilations, 1)


@export("tf.nn.conv2d_transpose")
def conv2d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None,
    name=None,
):  # fmt: skip
    """The transpose of conv2d: what its gradient does to the output."""
    return _transposed(input, filters, output_shape, strides, padding, data_format, dilations, 2)


@export("tf.nn.conv3d_transpose")
def conv3d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None,
    name=None,
):  # fmt: skip
    """The transpose of conv3d: what its gradient does to the output."""
    return _transposed(input, filters, output_shape, strides, padding, data_format, dilations, 3)


@export("tf.nn.conv_transpose")
def conv_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None,
    name=None,
):  # fmt: skip
    """The transpose of a convolution over as many dimensions as the filter has."""
    if not hasattr(output_shape, "__len__") and not isinstance(output_shape, Tensor):
        raise ValueError("`output_shape` must be a tensor or sized collection. Received: "
                         f"output_shape={output_shape}")  # fmt: skip
    length = len(output_shape) if not isinstance(output_shape, Tensor) else output_shape.shape[0]
    if length is not None and length not in (3, 4, 5):
        raise ValueError(f"`output_shape` must be of length 3, 4 or 5. Received: output_shape="
                         f"{output_shape} of length {length}.")  # fmt: skip
    filters = convert_to_tensor(filters)
    spatial = filters.ndim - 2
    return _transposed(
        input, filters, output_shape, strides, padding, data_format, dilations, spatial
    )


@export("tf.nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """The transpose of atrous_conv2d."""
    return _transposed(value, filters, output_shape, 1, padding, "NHWC", rate, 2)


# --- depthwise -----------------------------------------------------------------------------------


def _grouped(filters):
    """A depthwise filter [h, w, channels, multiplier] as [h, w, 1, channels * multiplier]."""
    filters = convert_to_tensor(filters)
    if filters.ndim != 4:
        raise ValueError(
            "A depthwise filter has shape [height, width, in_channels, channel_multiplier]. "
            f"Received: {filters.shape}"
        )
    height, width, channels, multiplier = sizes_of(filters)
    return call("reshape", (filters, [height, width, 1, channels * multiplier]), {})


@export("tf.nn.depthwise_conv2d")
def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """Convolution of each channel with filters of its own."""
    return _convolve(input, _grouped(filter), strides, padding, data_format, dilations, 2)


@export("tf.nn.depthwise_conv2d_backprop_input")
def depthwise_conv2d_backprop_input(
    input_sizes, filter, out_backprop, strides, padding, data_format="NHWC",
    dilations=[1, 1, 1, 1], name=None,  # noqa: B006  TensorFlow's default
):  # fmt: skip
    """The gradient of depthwise_conv2d with respect to its input."""
    return _transposed(
        out_backprop, _grouped(filter), input_sizes, strides, padding, data_format, dilations, 2
    )


@export("tf.nn.depthwise_conv2d_backprop_filter")
def depthwise_conv2d_backprop_filter(
    input, filter_sizes, out_backprop, strides, padding, data_format="NHWC",
    dilations=[1, 1, 1, 1], name=None,  # noqa: B006  TensorFlow's default
):  # fmt: skip
    """The gradient of depthwise_conv2d with respect to its filter."""
    first = _windows.is_channels_first(data_format, 2)
    attrs = _attrs(strides, padding, dilations, 2, first)
    height, width, channels, multiplier = (int(v) for v in filter_sizes)
    x = _windows.to_channels_last(convert_to_tensor(input), first)
    dy = _windows.to_channels_last(convert_to_tensor(out_backprop), first)
    sizes = [height, width, 1, channels * multiplier]
    df = call("convolution_filter_grad", (x, sizes, dy), attrs)
    return call("reshape", (df, [height, width, channels, multiplier]), {})


@export("tf.nn.separable_conv2d")
def separable_conv2d(
    input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None,
    name=None,
):  # fmt: skip
    """A depthwise convolution, then one over the channels alone."""
    y = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return _convolve(y, pointwise_filter, 1, "VALID", data_format, None, 2)
