"""The arguments of a call taken apart: leaves, and how they are put together.

What a trace depends on of a leaf, and which traces a call fits, the extension knows
(``_tidemark.Argument``).
"""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, nest
from tidemark._graph.tracing import COMPOSITES
from tidemark._tensor.specs import TensorSpec, TypeSpec
from tidemark._tidemark import Argument, Tensor


def argument_of(spec):
    """A TensorSpec as what a trace takes."""
    shape = spec.shape
    sizes = None if shape.rank is None else tuple(shape.as_list())
    return Argument.tensor(spec.dtype, sizes, spec.name)


def spec_of(arg):
    """The TensorSpec of what a trace takes, a tensor."""
    return TensorSpec(arg.shape, arg.dtype, arg.name)


def _without_spec(leaf):
    return argument_of(leaf) if isinstance(leaf, TensorSpec) else leaf


def _is_array(leaf):
    return isinstance(leaf, (np.ndarray, np.generic)) or (
        hasattr(leaf, "__tf_tensor__")
        and not isinstance(leaf, (Tensor, *COMPOSITES, _tidemark.VariableBase, type))
    )


class Call:
    """The arguments of one call, taken apart."""

    __slots__ = ("token", "leaves", "_structure", "_specs")

    def __init__(self, values):
        """``values``: the arguments, (positional, by name)."""
        leaves, specs = [], []
        for leaf in nest.flatten(values):
            if isinstance(leaf, TensorSpec):
                leaves.append(argument_of(leaf))
            elif isinstance(leaf, (*COMPOSITES, TypeSpec)):
                spec = leaf if isinstance(leaf, TypeSpec) else leaf._type_spec
                parts = nest.flatten(
                    spec._component_specs if leaf is spec else spec._to_components(leaf)
                )
                specs.append((len(leaves), spec, len(parts)))
                leaves.extend(map(_without_spec, parts))
            elif _is_array(leaf):
                leaves.append(_tidemark.convert(leaf))
            else:
                leaves.append(leaf)
        self._structure, self._specs, self.leaves = values, specs, leaves
        args, kwargs = map(token_of, values)
        if specs or kwargs[1] or any(args[1:]):
            self.token = (args, kwargs, tuple((at, _key(spec)) for at, spec, _ in specs))
        else:
            self.token = len(leaves)  # the leaves are the arguments

    @property
    def args(self):
        """What a trace depends on of each leaf."""
        return tuple(map(Argument.of, self.leaves))

    def like(self):
        """The same without its leaves, to keep."""
        made = Call.__new__(Call)
        made._structure = nest.map_structure(lambda _: None, self._structure)
        made._specs = self._specs
        return made

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


def token_of(value):
    """The structure alone, hashable."""
    kind = type(value)
    if kind is tuple or kind is list:
        return (kind, *map(token_of, value))
    if nest.is_nested(value):
        if isinstance(value, dict):
            keys = sorted(value)
            return (kind, tuple(keys), *(token_of(value[key]) for key in keys))
        return (kind, *(token_of(part) for part in nest._children(value)))
    return None
