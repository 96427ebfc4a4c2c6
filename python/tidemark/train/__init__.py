"""``tf.train``: checkpoints, messages of examples."""

from tidemark._export import refusing as _refusing
from tidemark._v1.train.checkpoint_state import (
    CheckpointReader,
    get_checkpoint_state,
    latest_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
)
from tidemark.train import experimental
from tidemark.train._checkpoints.checkpoint import Checkpoint, CheckpointOptions
from tidemark.train._checkpoints.manager import (
    CheckpointManager,
    CheckpointView,
    checkpoints_iterator,
)
from tidemark.train._cluster import ClusterSpec
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
    "Checkpoint",
    "CheckpointManager",
    "CheckpointOptions",
    "CheckpointReader",
    "CheckpointView",
    "ClusterSpec",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
    "TrackableView",
    "checkpoints_iterator",
    "experimental",
    "get_checkpoint_state",
    "latest_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_variable",
]


def __getattr__(name):
    """TensorFlow 1's optimizers, savers, coordinators."""
    if not name.startswith("_"):
        from tidemark._v1.train import find  # only sessions need it

        found = find(name)
        if found is not None:
            return found
    return _refusing("tf.train")(name)
