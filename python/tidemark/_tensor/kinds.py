"""Tensors that have a value and tensors of graphs are of one class; these tell them apart."""

from __future__ import annotations

from tidemark._tidemark import Tensor, is_symbolic


class _Eager(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and not is_symbolic(instance)


class _Symbolic(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and is_symbolic(instance)


class EagerTensor(metaclass=_Eager):
    """A tensor that has a value, for ``isinstance``."""


class SymbolicTensor(metaclass=_Symbolic):
    """A tensor of a graph, for ``isinstance``."""
