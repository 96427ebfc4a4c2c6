"""Telling calls apart: what of an argument a trace depends on.

A tensor counts by its dtype and shape, a Python number by its type and, until two values of it were
seen, by its value, anything else by value or identity.
"""

from __future__ import annotations

import types
import weakref

import numpy as np

from tidemark import _tidemark, nest
from tidemark._graph.tracing import COMPOSITES
from tidemark._tensor.specs import TensorSpec, TypeSpec
from tidemark._tidemark import Tensor

_BY_VALUE = (bool, str, bytes, type(None), type, np.dtype)
_NUMBERS = (int, float, complex)


class ById:
    """Compares by object, without keeping it."""

    __slots__ = ("_ref", "_hash", "_extra", "text")

    def __init__(self, value, extra=None):
        self._ref = weakref.ref(value)
        self._hash = hash((id(value), extra))
        self._extra = extra
        self.text = f"{type(value).__name__} object"

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        mine = self._ref()
        return (
            isinstance(other, ById)
            and mine is not None
            and mine is other._ref()
            and self._extra == other._extra
        )

    def __repr__(self):
        return self.text

    @property
    def is_gone(self):
        return self._ref() is None

    @property
    def parts(self):
        """(weak reference to the object, the function of a bound method or None)."""
        return self._ref, self._extra


class TensorArg:
    """A tensor of this dtype and shape; sizes may be None, the shape as a whole too."""

    __slots__ = ("dtype", "shape", "name")

    def __init__(self, dtype, shape, name=None):
        self.dtype, self.shape, self.name = dtype, shape, name

    @classmethod
    def of(cls, tensor):
        shape = tensor.shape
        return cls(tensor.dtype, None if shape.rank is None else tuple(shape.as_list()))

    def __eq__(self, other):
        return (
            isinstance(other, TensorArg) and self.dtype == other.dtype and self.shape == other.shape
        )

    def __hash__(self):
        return hash((self.dtype, self.shape))

    def accepts(self, other):
        """Whether every tensor of ``other`` is one of this."""
        if not isinstance(other, TensorArg) or self.dtype != other.dtype:
            return False
        if self.shape is None:
            return True
        if other.shape is None or len(self.shape) != len(other.shape):
            return False
        return all(a is None or a == b for a, b in zip(self.shape, other.shape, strict=True))

    def joined(self, other):
        """What accepts both; None where nothing sensible does."""
        if not isinstance(other, TensorArg) or self.dtype != other.dtype:
            return None
        if self.shape is None or other.shape is None or len(self.shape) != len(other.shape):
            return None
        both = zip(self.shape, other.shape, strict=True)
        return TensorArg(self.dtype, tuple(a if a == b else None for a, b in both))

    @property
    def is_general(self):
        return self.shape is None or None in self.shape

    def __repr__(self):
        if self.shape is None:
            return f"{self.dtype.name}[<unknown>]"
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"

    def spec(self):
        """The TensorSpec."""
        return TensorSpec(self.shape, self.dtype, self.name)


class NumberArg:
    """Any Python number of this type: an input of the graph."""

    __slots__ = ("type",)
    is_general = True

    def __init__(self, type_):
        self.type = type_

    def __eq__(self, other):
        return isinstance(other, NumberArg) and self.type is other.type

    def __hash__(self):
        return hash(("number", self.type))

    def accepts(self, other):
        if isinstance(other, NumberArg):
            return self.type is other.type
        return isinstance(other, ValueArg) and type(other.value) is self.type

    def joined(self, other):
        return self if self.accepts(other) else None

    def __repr__(self):
        return f"any {self.type.__name__}"


class ValueArg:
    """Exactly this Python value."""

    __slots__ = ("value",)
    is_general = False

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        if not isinstance(other, ValueArg) or type(self.value) is not type(other.value):
            return False
        mine, others = self.value, other.value
        return mine is others or mine == others or (mine != mine and others != others)

    def __hash__(self):
        value = self.value
        return hash((type(value), value if value == value else "nan"))

    def accepts(self, other):
        return self == other

    def joined(self, other):
        """Two numbers of one type: any number of that type."""
        if isinstance(other, ValueArg) and self.is_number and type(self.value) is type(other.value):
            return NumberArg(type(self.value))
        return None

    @property
    def is_number(self):
        return type(self.value) in _NUMBERS

    def __repr__(self):
        text = repr(self.value)
        return text if len(text) <= 40 else text[:37] + "..."


def describe_leaf(leaf):
    """What a trace depends on of one leaf of the arguments."""
    if isinstance(leaf, Tensor):
        return TensorArg.of(leaf)
    if isinstance(leaf, _tidemark.VariableBase):
        return ValueArg(ById(leaf))  # its value is read when the graph runs
    if isinstance(leaf, TensorSpec):
        shape = leaf.shape
        sizes = None if shape.rank is None else tuple(shape.as_list())
        return TensorArg(leaf.dtype, sizes, leaf.name)
    kind = type(leaf)
    if kind in _NUMBERS or isinstance(leaf, _BY_VALUE):
        return ValueArg(leaf)
    if isinstance(leaf, types.MethodType):
        return ValueArg(ById(leaf.__self__, leaf.__func__))
    try:
        return ValueArg(ById(leaf))
    except TypeError:  # no weak references to it: by value
        hash(leaf)
        return ValueArg(leaf)


def _is_array(leaf):
    return isinstance(leaf, (np.ndarray, np.generic)) or (
        hasattr(leaf, "__tf_tensor__")
        and not isinstance(leaf, (Tensor, *COMPOSITES, _tidemark.VariableBase, type))
    )


class Call:
    """The arguments of one call, taken apart."""

    __slots__ = ("token", "leaves", "args", "_structure", "_specs")

    def __init__(self, values):
        """``values``: the arguments, a structure."""
        leaves, specs = [], []
        flat = nest.flatten(values)
        for leaf in flat:
            if isinstance(leaf, COMPOSITES) or (
                isinstance(leaf, TypeSpec) and not isinstance(leaf, TensorSpec)
            ):
                spec = leaf if isinstance(leaf, TypeSpec) else leaf._type_spec
                parts = nest.flatten(
                    spec._component_specs if leaf is spec else spec._to_components(leaf)
                )
                specs.append((len(leaves), spec, len(parts)))
                leaves.extend(parts)
            elif _is_array(leaf):
                leaves.append(_tidemark.convert(leaf))
            else:
                leaves.append(leaf)
        self._structure, self._specs, self.leaves = values, specs, leaves
        self.token = (_token(values), tuple((at, _key(spec)) for at, spec, _ in specs))
        self.args = tuple(describe_leaf(leaf) for leaf in leaves)

    def packed(self, leaves):
        """The arguments again over other leaves."""
        if self._specs:
            leaves = list(leaves)
            for at, spec, count in reversed(self._specs):
                shape = spec._component_specs
                parts = nest.pack_sequence_as(shape, leaves[at : at + count])
                leaves[at : at + count] = [spec._from_components(parts)]
        return nest.pack_sequence_as(self._structure, leaves)


def _key(spec):
    """What of a spec its tensors do not tell."""
    return getattr(spec, "trace_key", type(spec))


def _token(value):
    """The structure alone, hashable."""
    kind = type(value)
    if kind is tuple or kind is list:
        return (kind, *map(_token, value))
    if nest.is_nested(value):
        if isinstance(value, dict):
            keys = sorted(value)
            return (kind, tuple(keys), *(_token(value[key]) for key in keys))
        return (kind, *(_token(part) for part in nest._children(value)))
    return None
