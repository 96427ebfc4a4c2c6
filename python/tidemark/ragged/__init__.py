"""``tf.ragged``: tensors with rows of different lengths, and how other functions take them."""

from tidemark._export import namespace as _namespace
from tidemark.ragged import _dispatch, _functions, _row_partition, _tensor

globals().update(_namespace("tf.ragged"))
