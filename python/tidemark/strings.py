"""``tf.strings``: text in tensors."""

from tidemark import _string_ops, _unicode_ops  # noqa: F401  they export what is here
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.strings"))
