"""``tf.nn``: activations, convolutions, poolings, normalisation and losses."""

from tidemark import (
    _array_ops,
    _candidates,
    _conv_ops,
    _ctc_ops,
    _embedding_ops,
    _math_ops,
    _nn_more,
    _nn_ops,
    _pool_ops,
    _sequence_ops,
    _space_ops,
    _stitch_ops,
)
from tidemark._export import namespace as _namespace
from tidemark.nn import _fractional_pooling
from tidemark.nn import experimental as experimental

globals().update(_namespace("tf.nn"))


def __getattr__(name):
    """Recurrent networks of TensorFlow 1."""
    if not name.startswith("_"):
        from tidemark._v1.nn_names import find

        found = find(name)
        if found is not None:
            return found
    raise AttributeError(f"module 'tidemark.nn' has no attribute {name!r}")
