"""``tf.train``: messages of examples."""

from tidemark.train._example import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)
from tidemark.train._trackable_view import TrackableView

__all__ = [
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
    "TrackableView",
]


def __getattr__(name):
    """TensorFlow 1's optimizers, savers, coordinators."""
    if not name.startswith("_"):
        from tidemark._v1.train import find

        found = find(name)
        if found is not None:
            return found
    raise AttributeError(f"module 'tidemark.train' has no attribute {name!r}")
