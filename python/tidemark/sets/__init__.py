"""``tf.sets``: sets along the last dimension of tensors."""

from tidemark._export import namespace as _namespace
from tidemark.sets import _operations

globals().update(_namespace("tf.sets"))
