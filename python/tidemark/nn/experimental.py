"""``tf.nn.experimental``: dropout from given random numbers, fused normalisations."""

from tidemark import _nn_more
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.nn.experimental"))
