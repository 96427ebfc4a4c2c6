"""``tf.sparse``: tensors given by where their elements are."""

from tidemark import _sparse as _sparse
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.sparse"))
