"""``tensorflow.python.layers``: the layers of ``tf.compat.v1.layers``, some under older names."""

from tidemark._v1 import layers
from tidemark._v1.layers import (
    BatchNormalization,
    Dense,
    Dropout,
    Layer,
    flatten,
)

Convolution1D, Convolution2D, Convolution3D = layers.Conv1D, layers.Conv2D, layers.Conv3D
Convolution2DTranspose, Convolution3DTranspose = layers.Conv2DTranspose, layers.Conv3DTranspose
SeparableConvolution2D = layers.SeparableConv2D

__all__ = ["BatchNormalization", "Dense", "Dropout", "Layer", "flatten"]


def __getattr__(name):
    return getattr(layers, name)
