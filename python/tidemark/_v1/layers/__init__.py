"""``tf.compat.v1.layers``: layers whose variables live in variable scopes.

A function of each layer (``dense``) makes the layer and calls it: with ``name`` and ``reuse`` the
variables of an earlier call are taken.
"""

from __future__ import annotations

from tidemark._v1.layers.base import Layer
from tidemark._v1.layers.core import BatchNormalization, Dense, Dropout, Flatten
from tidemark._v1.layers.windows import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
    SeparableConv2D,
)


def _function(layer, *at_call):
    """A function that makes the layer and calls it; ``at_call`` are arguments of the call."""

    def function(inputs, *args, reuse=None, **kwargs):
        given = {name: kwargs.pop(name) for name in at_call if name in kwargs}
        made = layer(*args, _scope=kwargs.get("name"), _reuse=reuse, **kwargs)
        return made(inputs, **given)

    function.__doc__ = f"Makes a ``{layer.__name__}`` and calls it."
    return function


def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    """Makes a ``Dropout`` and calls it."""
    return Dropout(rate, noise_shape, seed, name)(inputs, training=training)


def flatten(inputs, name=None, data_format="channels_last"):
    """Makes a ``Flatten`` and calls it."""
    return Flatten(data_format, name=name)(inputs)


dense = _function(Dense)
conv1d, conv2d, conv3d = _function(Conv1D), _function(Conv2D), _function(Conv3D)
conv2d_transpose, conv3d_transpose = _function(Conv2DTranspose), _function(Conv3DTranspose)
separable_conv2d = _function(SeparableConv2D)
batch_normalization = _function(BatchNormalization, "training")


def _pooling(layer):
    def function(inputs, pool_size, strides, padding="valid", data_format="channels_last",
                 name=None):  # fmt: skip
        return layer(pool_size, strides, padding, data_format, name)(inputs)

    function.__doc__ = f"Makes a ``{layer.__name__}`` and calls it."
    return function


max_pooling1d = _pooling(MaxPooling1D)
max_pooling2d = _pooling(MaxPooling2D)
max_pooling3d = _pooling(MaxPooling3D)
average_pooling1d = _pooling(AveragePooling1D)
average_pooling2d = _pooling(AveragePooling2D)
average_pooling3d = _pooling(AveragePooling3D)

for _name in ("dense", "conv1d", "conv2d", "conv3d", "conv2d_transpose", "conv3d_transpose",
              "separable_conv2d", "batch_normalization", "max_pooling1d", "max_pooling2d",
              "max_pooling3d", "average_pooling1d", "average_pooling2d",
              "average_pooling3d"):  # fmt: skip
    globals()[_name].__name__ = globals()[_name].__qualname__ = _name

__all__ = ["Layer", "BatchNormalization", "Dense", "Dropout", "Flatten", "Conv1D", "Conv2D",
           "Conv3D", "Conv2DTranspose", "Conv3DTranspose", "SeparableConv2D", "MaxPooling1D",
           "MaxPooling2D", "MaxPooling3D", "AveragePooling1D", "AveragePooling2D",
           "AveragePooling3D"]  # fmt: skip
