"""``tf.__internal__.function``: the type of functions."""

from tidemark._functions.concrete import ConcreteFunction
from tidemark._functions.function import Function

__all__ = ["ConcreteFunction", "Function"]
