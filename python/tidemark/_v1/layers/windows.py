"""Convolutions and pooling."""

from __future__ import annotations

import tidemark as tf
from tidemark._v1.initializers import zeros_initializer
from tidemark._v1.layers.base import Layer, last_size

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _tuple(value, rank, name):
    if isinstance(value, int):
        return (value,) * rank
    value = tuple(value)
    if len(value) != rank or not all(isinstance(v, int) for v in value):
        raise ValueError(f"The `{name}` argument must be a tuple of {rank} integers. Got: {value}")
    return value


def _format(data_format, rank):
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {data_format}"
        )
    return _FORMATS[rank][data_format == "channels_first"]


class _Conv(Layer):
    """A convolution over ``rank`` dimensions."""

    rank = 2

    def __init__(self, filters, kernel_size, strides=1, padding="valid",
                 data_format="channels_last", dilation_rate=1, activation=None, use_bias=True,
                 kernel_initializer=None, bias_initializer=None, kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(trainable, name, **kwargs)
        rank = self.rank
        self.filters = filters
        self.kernel_size = _tuple(kernel_size, rank, "kernel_size")
        self.strides = _tuple(strides, rank, "strides")
        self.dilation_rate = _tuple(dilation_rate, rank, "dilation_rate")
        self.padding, self.data_format = padding.upper(), data_format
        if self.padding not in ("SAME", "VALID"):
            raise ValueError(f"padding is 'valid' or 'same'; {padding!r} was given")
        self._data_format = _format(data_format, rank)
        self._channel_axis = 1 if data_format == "channels_first" else -1
        self.activation, self.use_bias = activation, use_bias
        self.kernel_initializer, self.kernel_regularizer = kernel_initializer, kernel_regularizer
        self.bias_initializer = bias_initializer or zeros_initializer()
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint

    def _kernel_shape(self, channels):
        return [*self.kernel_size, channels, self.filters]

    def build(self, input_shape):
        channels = last_size(input_shape, self._channel_axis, "channel dimension")
        self.kernel = self.add_variable(
            "kernel", self._kernel_shape(channels), self._dtype, self.kernel_initializer,
            self.kernel_regularizer, True, self.kernel_constraint,
        )  # fmt: skip
        self._add_bias()

    def _add_bias(self):
        self.bias = None
        if self.use_bias:
            self.bias = self.add_variable(
                "bias", [self.filters], self._dtype, self.bias_initializer,
                self.bias_regularizer, True, self.bias_constraint,
            )  # fmt: skip
        self.built = True

    def _finished(self, out):
        if self.bias is not None:
            first = self.data_format == "channels_first"
            out = tf.nn.bias_add(out, self.bias, data_format="NCHW" if first else None)
            out = self._named(out, "BiasAdd")
        return self._activated(out)

    def call(self, inputs):
        out = tf.nn.convolution(
            inputs, self.kernel, list(self.strides), self.padding, self._data_format,
            list(self.dilation_rate),
        )  # fmt: skip
        return self._finished(out)


class Conv1D(_Conv):
    rank = 1


class Conv2D(_Conv):
    rank = 2


class Conv3D(_Conv):
    rank = 3


class Conv2DTranspose(_Conv):
    """The gradient of a convolution as a layer of its own."""

    rank = 2

    def __init__(self, filters, kernel_size, strides=1, padding="valid",
                 data_format="channels_last", activation=None, use_bias=True,
                 **kwargs):  # fmt: skip
        super().__init__(filters, kernel_size, strides, padding, data_format, 1, activation,
                         use_bias, **kwargs)  # fmt: skip

    def _kernel_shape(self, channels):
        return [*self.kernel_size, self.filters, channels]

    def _sizes(self, inputs):
        first = self.data_format == "channels_first"
        known, dynamic = inputs.shape.as_list(), tf.shape(inputs)
        at = 2 if first else 1
        sizes = []
        for i in range(self.rank):
            size = dynamic[at + i] if known[at + i] is None else known[at + i]
            size = size * self.strides[i]
            if self.padding == "VALID":
                size = size + max(self.kernel_size[i] - self.strides[i], 0)
            sizes.append(size)
        batch = dynamic[0] if known[0] is None else known[0]
        out = [batch, self.filters, *sizes] if first else [batch, *sizes, self.filters]
        return out if all(isinstance(size, int) for size in out) else tf.stack(out)

    def call(self, inputs):
        out = tf.nn.conv_transpose(
            inputs, self.kernel, self._sizes(inputs), list(self.strides), self.padding,
            self._data_format,
        )  # fmt: skip
        return self._finished(out)


class Conv3DTranspose(Conv2DTranspose):
    rank = 3


class SeparableConv2D(_Conv):
    """A convolution a channel, then one over the channels."""

    rank = 2

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid",
                 data_format="channels_last", dilation_rate=(1, 1), depth_multiplier=1,
                 activation=None, use_bias=True, depthwise_initializer=None,
                 pointwise_initializer=None, bias_initializer=None, depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None,
                 trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate,
                         activation, use_bias, bias_initializer=bias_initializer,
                         bias_regularizer=bias_regularizer, bias_constraint=bias_constraint,
                         trainable=trainable, name=name, **kwargs)  # fmt: skip
        self.depth_multiplier = depth_multiplier
        self._parts = {
            "depthwise_kernel": (
                depthwise_initializer,
                depthwise_regularizer,
                depthwise_constraint,
            ),
            "pointwise_kernel": (
                pointwise_initializer,
                pointwise_regularizer,
                pointwise_constraint,
            ),
        }

    def _part(self, name, shape):
        initializer, regularizer, constraint = self._parts[name]
        return self.add_variable(
            name, shape, self._dtype, initializer, regularizer, True, constraint
        )

    def build(self, input_shape):
        channels = last_size(input_shape, self._channel_axis, "channel dimension")
        depth = [*self.kernel_size, channels, self.depth_multiplier]
        self.depthwise_kernel = self._part("depthwise_kernel", depth)
        point = [1, 1, channels * self.depth_multiplier, self.filters]
        self.pointwise_kernel = self._part("pointwise_kernel", point)
        self._add_bias()

    def call(self, inputs):
        first = self.data_format == "channels_first"
        strides = (1, 1, *self.strides) if first else (1, *self.strides, 1)
        out = tf.nn.separable_conv2d(
            inputs, self.depthwise_kernel, self.pointwise_kernel, strides, self.padding,
            self._data_format, list(self.dilation_rate),
        )  # fmt: skip
        return self._finished(out)


class _Pooling(Layer):
    """The largest element or the mean of each window."""

    rank, kind = 2, "MAX"

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None,
                 **kwargs):  # fmt: skip
        super().__init__(name=name, **kwargs)
        self.pool_size = _tuple(pool_size, self.rank, "pool_size")
        self.strides = _tuple(strides, self.rank, "strides")
        self.padding, self._data_format = padding.upper(), _format(data_format, self.rank)

    def call(self, inputs):
        return tf.nn.pool(
            inputs, list(self.pool_size), self.kind, list(self.strides), self.padding,
            self._data_format,
        )  # fmt: skip


class MaxPooling1D(_Pooling):
    rank = 1


class MaxPooling2D(_Pooling):
    rank = 2


class MaxPooling3D(_Pooling):
    rank = 3


class AveragePooling1D(_Pooling):
    rank, kind = 1, "AVG"


class AveragePooling2D(_Pooling):
    rank, kind = 2, "AVG"


class AveragePooling3D(_Pooling):
    rank, kind = 3, "AVG"
