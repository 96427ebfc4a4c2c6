"""``tf.train.experimental``."""

from tidemark._export import refusing as _refusing
from tidemark.train._checkpoints.checkpoint import PythonState

__all__ = ["PythonState"]

__getattr__ = _refusing("tf.train.experimental")
