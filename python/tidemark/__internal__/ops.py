"""``tf.__internal__.ops``."""

from __future__ import annotations

import tidemark as _tf
from tidemark._tensorflow.inner.variables import is_resource_variable
from tidemark._v1.losses import _fitting


def broadcast_weights(weights, values):
    """Weights as many as the values; they have one number, or sizes that are the values' or 1."""
    values = _tf.convert_to_tensor(values)
    weights = _tf.cast(weights, values.dtype.base_dtype)
    if weights.shape.is_fully_defined() and weights.shape == values.shape:
        return weights
    weights, values = _fitting(weights, values)
    return weights * _tf.ones_like(values)


__all__ = ["is_resource_variable"]
