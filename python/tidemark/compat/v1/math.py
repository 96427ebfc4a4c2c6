"""``tf.compat.v1.math``."""

from __future__ import annotations

from tidemark import math as _math


def in_top_k(predictions, targets, k, name=None):
    """Whether the prediction for the target is among the k largest of its row."""
    return _math.in_top_k(targets=targets, predictions=predictions, k=k)


def __getattr__(name):
    return getattr(_math, name)
