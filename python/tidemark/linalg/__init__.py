"""``tf.linalg``: products, norms, diagonals and triangles of matrices."""

import types as _types

from tidemark._export import namespace as _namespace
from tidemark.linalg import _banded, _decompositions, _eigen, _linear_operators, _matrices
from tidemark.math import _products

globals().update(_namespace("tf.linalg"))
experimental = _types.SimpleNamespace(**_namespace("tf.linalg.experimental"))
