"""``tf.linalg.LinearOperator`` and the operators of one structure or another."""

from tidemark.linalg._linear_operators import banded, circulant, combined, iterative, plain
from tidemark.linalg._linear_operators.base import LinearOperator

__all__ = ["LinearOperator"]
