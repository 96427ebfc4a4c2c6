"""``tf.sparse``: tensors given by where their elements are, and ops on them."""

from tidemark._export import namespace as _namespace
from tidemark.sparse import _combining, _layout, _matmul, _reducing, _tensor

globals().update(_namespace("tf.sparse"))
