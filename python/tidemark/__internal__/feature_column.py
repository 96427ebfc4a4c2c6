"""``tf.__internal__.feature_column``: the kinds of feature columns, for ``isinstance``."""

from __future__ import annotations


class FeatureColumn:
    """What a model is told of one feature."""


class DenseColumn(FeatureColumn):
    """A feature that becomes a row of numbers."""


class SequenceDenseColumn(FeatureColumn):
    """A feature that becomes rows of numbers."""


class StateManager:
    """Holds the variables of feature columns."""


class FeatureTransformationCache:
    """Features that were computed already."""

    def __init__(self, features):
        self._features = dict(features)
