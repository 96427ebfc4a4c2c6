"""``tf.nn``: activations, normalisation and losses."""

from tidemark import _array_ops, _math_ops, _nn_ops  # noqa: F401  they export what is here
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.nn"))
