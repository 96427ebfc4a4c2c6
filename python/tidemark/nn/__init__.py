"""``tf.nn``: activations, convolutions, poolings, normalisation and losses."""

from tidemark._export import namespace as _namespace
from tidemark._export import refusing as _refusing
from tidemark._tensor import arrays as _arrays
from tidemark.math import _approximate_top_k, _counting, _products
from tidemark.nn import (
    _activations,
    _attention,
    _convolution,
    _ctc,
    _dropout,
    _embedding,
    _fractional_pooling,
    _isotonic,
    _losses,
    _morphology,
    _normalization,
    _pooling,
    _sampled_losses,
    _space_to_batch,
    experimental,
)

globals().update(_namespace("tf.nn"))


def __getattr__(name):
    """Recurrent networks of TensorFlow 1."""
    if not name.startswith("_"):
        from tidemark._v1.nn_names import find  # only sessions need it

        found = find(name)
        if found is not None:
            return found
    return _refusing("tf.nn")(name)
