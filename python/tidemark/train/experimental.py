"""``tf.train.experimental``."""

from tidemark._checkpoints.checkpoint import PythonState

__all__ = ["PythonState"]
