"""``tf.train.experimental``."""

from tidemark.train._checkpoints.checkpoint import PythonState

__all__ = ["PythonState"]
