"""Building a graph on this thread: what ``tf.function``, conditions and loops share."""

from __future__ import annotations

import threading

from tidemark import _tidemark, nest
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tensor.specs import CompositeTensor
from tidemark._tidemark import Tensor

COMPOSITES = (CompositeTensor, IndexedSlices)  # made of several tensors

is_tracing = _tidemark.is_tracing
is_symbolic = _tidemark.is_symbolic


_lock = threading.Lock()
_reasons = 0


def call_functions_in_python(wanted):
    """While anybody wants it, calls of functions go through Python instead of straight to their
    programs. Who wanted it says when that is over."""
    global _reasons
    with _lock:
        _reasons += 1 if wanted else -1
        _tidemark.set_functions_run_eagerly(_reasons > 0)


class building:
    """A context in which calls become nodes of a new graph: ``with building("body") as graph``."""

    def __init__(self, name):
        self._builder = _tidemark.GraphBuilder(name)

    def __enter__(self):
        self._builder.enter()
        return self._builder

    def __exit__(self, *error):
        self._builder.exit()
        return False


class lifted:
    """A context outside of all graphs being built."""

    def __init__(self):
        self._scope = _tidemark.EagerScope()

    def __enter__(self):
        self._scope.enter()

    def __exit__(self, *error):
        self._scope.exit()
        return False


class Structure:
    """How a value is made of tensors: takes it apart, and puts one like it together again.

    Leaves that are no tensors (None, and what ``convert`` leaves alone) stay as they are.
    """

    __slots__ = ("_value", "_parts")

    def __init__(self, value, parts):
        self._value, self._parts = value, parts

    @classmethod
    def of(cls, value, to_tensor):
        """The structure, and the tensors ``to_tensor(leaf)`` gives; None: the leaf is kept."""
        tensors, parts = [], []
        for leaf in nest.flatten(value):
            if isinstance(leaf, COMPOSITES):
                spec = leaf._type_spec
                components = nest.flatten(spec._to_components(leaf))
                shape = spec._to_components(leaf)
                parts.append((spec, nest.map_structure(lambda _: None, shape), len(components)))
                tensors.extend(components)
                continue
            tensor = to_tensor(leaf)
            if tensor is None:
                parts.append((None, leaf, 0))
            else:
                parts.append((None, None, 1))
                tensors.append(tensor)
        skeleton = nest.map_structure(lambda _: None, value)
        return cls(skeleton, parts), tensors

    def pack(self, tensors):
        """A value of this structure over other tensors."""
        leaves, at = [], 0
        for spec, kept, count in self._parts:
            if spec is not None:
                parts = nest.pack_sequence_as(kept, tensors[at : at + count])
                leaves.append(spec._from_components(parts))
            else:
                leaves.append(tensors[at] if count else kept)
            at += count
        return nest.pack_sequence_as(self._value, leaves)

    def described(self, specs):
        """The structure over the specs of its tensors; a composite tensor is its own spec."""
        leaves, at = [], 0
        for spec, kept, count in self._parts:
            leaves.append(spec if spec is not None else specs[at] if count else kept)
            at += count
        return nest.pack_sequence_as(self._value, leaves)

    def joined(self, other):
        """The structure of what is of this one or, after another branch or round, of another."""
        parts = [
            (spec.joined(others[0]), *rest) if hasattr(spec, "joined") else (spec, *rest)
            for (spec, *rest), others in zip(self._parts, other._parts, strict=True)
        ]
        return Structure(self._value, parts)

    @property
    def is_one_tensor(self):
        return self._value is None and self._parts == [(None, None, 1)]


def tensor_or_none(leaf):
    """What a function may return: anything that converts to a tensor; None stays None."""
    if leaf is None or isinstance(leaf, Tensor):
        return leaf
    return convert_to_tensor(leaf)
