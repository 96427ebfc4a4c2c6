"""``tf.strings``: text in tensors."""

from tidemark._export import namespace as _namespace
from tidemark._export import refusing as _refusing
from tidemark.strings import _split_and_join, _unicode

globals().update(_namespace("tf.strings"))

__getattr__ = _refusing("tf.strings")
