"""``tf.ragged``: tensors with rows of different lengths."""

from tidemark import _ragged as _ragged
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.ragged"))
