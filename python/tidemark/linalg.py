"""``tf.linalg``: products, norms, diagonals and triangles of matrices."""

from tidemark import _decompositions, _linalg_ops, _math_ops  # noqa: F401  they export what is here
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.linalg"))
