"""``tf.nn.experimental``: dropout from given random numbers, fused normalisations."""

from tidemark._export import namespace as _namespace
from tidemark.nn import _attention, _dropout, _normalization

globals().update(_namespace("tf.nn.experimental"))
