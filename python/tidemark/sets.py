"""``tf.sets``: sets along the last dimension of tensors."""

from tidemark import _set_ops  # noqa: F401  it exports what is here
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.sets"))
