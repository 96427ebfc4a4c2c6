"""``tf.linalg``: products, norms, diagonals and triangles of matrices."""

from tidemark import _decompositions, _eigen_ops, _linalg_ops, _math_ops  # noqa: F401  exporters
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.linalg"))
