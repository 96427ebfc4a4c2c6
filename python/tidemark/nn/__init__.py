"""``tf.nn``: activations, normalisation and losses."""

from tidemark import _array_ops, _math_ops, _nn_more, _nn_ops
from tidemark._export import namespace as _namespace
from tidemark.nn import experimental as experimental

globals().update(_namespace("tf.nn"))
