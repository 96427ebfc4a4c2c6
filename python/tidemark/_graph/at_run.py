"""Functions written in Python over sizes and values that a graph knows only when it runs.

    @export("tf.linalg.lstsq")
    @sized_when_run
    def lstsq(matrix, rhs, …):
        rows, columns = sizes_of(matrix)[-2:]
        if rows < columns: …             # raises ValueUnknownError where they are not known yet

Such a call becomes one step of the graph, which runs the function in Python; plans,
``f.traces()`` and the doctor name it.
"""

from __future__ import annotations

import functools
import itertools
import math

from tidemark import _tidemark, nest
from tidemark._graph.tracing import Structure, is_symbolic, is_tracing, lifted, tensor_or_none
from tidemark._tidemark import Tensor
from tidemark.errors import OpError, ValueUnknownError

# What a function raises where imagined sizes are impossible for it; other errors are mistakes.
_IMPOSSIBLE = (OpError, ValueUnknownError, ValueError, ArithmeticError, LookupError)
# For what is unknown: (sizes, how many different elements). What comes out of the first two tells
# what is known; the others are tried where those are impossible.
_WORLDS = ((4, 1), (6, 3), (3, 1), (2, 1), (1, 1), (8, 1), (9, 1), (12, 1))
# For a rank that is unknown; what holds for all that work is known.
_RANKS = (2, 1, 3, 0, 4)
_MOST_COMBINED = 2  # tensors of unknown rank whose ranks are tried in all combinations


def sized_when_run(function=None, *, part_of=None):
    """A function that computes eagerly, as one step of the graph, where it cannot be traced: it
    looks at sizes or values that are not there yet. Any other error is raised as it is.

    ``part_of``: what the user calls, where this is a part of it.
    """
    if function is None:
        return functools.partial(sized_when_run, part_of=part_of)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except ValueUnknownError:
            if not is_tracing():
                raise
            whole = _Whole(function, args, kwargs)
            if not whole.find_specs():
                raise
        return whole.staged(part_of or _public_name(call))

    return call


def _public_name(function):
    """What users call it: the name it is exported under, or that of the function itself."""
    names = getattr(function, "__tf_names__", None)
    return names[0] if names else f"{function.__module__}.{function.__qualname__}"


class _Whole:
    """A call with all its tensors taken out of the arguments."""

    def __init__(self, function, args, kwargs):
        self._function, self._constants = function, None
        self._structure, self._tensors = Structure.of(
            (args, kwargs), lambda leaf: leaf if isinstance(leaf, Tensor) else None
        )

    def _compute(self, tensors):
        args, kwargs = self._structure.pack(tensors)
        return Structure.of(self._function(*args, **kwargs), tensor_or_none)

    def find_specs(self):
        """Tries the function on imagined sizes; False: it cannot be computed at all."""
        if not any(is_symbolic(t) for t in self._tensors):
            return self._find_constants()
        found = [result for ranks in self._ranks() for result in self._tried(ranks)]
        if not found:
            return False
        self._result, first = found[0]
        self._specs = [(t.dtype, tuple(t.shape.as_list())) for t in first]
        for structure, others in found[1:]:
            if len(others) != len(first) or not _alike(self._result, structure):
                return False
            self._result = self._result.joined(structure)
            self._specs = [
                (dtype, _tidemark.common_shape(shape, tuple(t.shape.as_list())))
                for (dtype, shape), t in zip(self._specs, others, strict=True)
            ]
        if len(found) == 1:
            self._specs = [(dtype, None) for dtype, _ in self._specs]
        return True

    def _ranks(self):
        """For each trial the ranks of the tensors whose rank is unknown."""
        count = sum(is_symbolic(t) and t.shape.rank is None for t in self._tensors)
        if count <= _MOST_COMBINED:
            return itertools.product(_RANKS, repeat=count)
        return ((rank,) * count for rank in _RANKS)

    def _tried(self, ranks):
        """What comes out with imagined sizes, of two worlds where those are possible."""
        found = []
        for number, (size, kinds) in enumerate(_WORLDS):
            if found and number > 1:
                break
            # On the host: errors of a device would come later, out of runs that never were.
            outer = _tidemark.enter_placement("cpu:0")
            try:
                with lifted():
                    left = iter(ranks)
                    values = [_imagined(t, size, kinds, left) for t in self._tensors]
                    found.append(self._compute(values))
            except _IMPOSSIBLE:
                continue
            finally:
                _tidemark.leave_placement(outer)
        return found

    def _find_constants(self):
        """Nothing of the graph takes part: the results are its constants."""
        try:
            with lifted():
                self._result, self._constants = self._compute(self._tensors)
        except _IMPOSSIBLE:
            return False
        return True

    def staged(self, name):
        if self._constants is not None:
            return self._result.pack([_tidemark.traced_constant(t) for t in self._constants])

        def run(*values):
            return self._compute(list(values))[1]

        results = _tidemark.python_call(run, self._tensors, self._specs, False, name)
        return self._result.pack(results)


def _imagined(tensor, size, kinds, ranks):
    """A tensor like that of a run; ``ranks``: what those get that have none, one after another."""
    if not is_symbolic(tensor):
        return tensor
    known = _tidemark.static_value(tensor)
    if known is not None:
        return known
    known = tensor.shape.as_list() if tensor.shape.rank is not None else [None] * next(ranks)
    shape = [size if d is None else d for d in known]
    # 1, 2, … again and again: how many results there are may depend on which elements there are.
    count = _tidemark.call("range", (0, math.prod(shape), 1), {})
    elements = _tidemark.call("floormod", (count, kinds), {}) + 1
    if not tensor.dtype.is_numeric:
        elements = _tidemark.call("equal", (elements, 1), {})
    elements = _tidemark.call("reshape", (elements, shape), {})
    return _tidemark.call("cast", (elements,), {"dtype": tensor.dtype._enum})


def _alike(first, second):
    """Whether two results are made of tensors in the same way."""
    try:
        nest.assert_same_structure(first._value, second._value)
    except (ValueError, TypeError):
        return False
    return all(
        a == b or (a[2] == b[2] and a[0] is not None and type(a[0]) is type(b[0]))
        for a, b in zip(first._parts, second._parts, strict=True)
    )


__all__ = ["sized_when_run"]
