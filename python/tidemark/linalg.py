"""``tf.linalg``: products, norms, diagonals and triangles of matrices."""

import types as _types

from tidemark import (  # noqa: F401  they export what is here
    _banded_ops,
    _decompositions,
    _eigen_ops,
    _linalg_ops,
    _linear_operators,
    _math_ops,
)
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.linalg"))
experimental = _types.SimpleNamespace(**_namespace("tf.linalg.experimental"))
