"""Sizes and numbers that functions of the library ask for while a graph may be being built.

``sizes_of`` never fails for a known rank: what is not known yet is a scalar of the graph, so
arithmetic on sizes is traced like any other. Where Python itself needs a number (to count rounds,
to choose a way), ``known_size`` and ``static_ints`` give it or raise ValueUnknownError, and so does
using such a scalar as a bool or an int. A function decorated with ``sized_when_run`` then becomes
one step that runs in Python: see _graph/at_run.py.
"""

from __future__ import annotations

from tidemark._tensor.creation import get_static_value
from tidemark._tidemark import Tensor, call
from tidemark.errors import SizeUnknownError


def sizes_of(x):
    """The sizes of a tensor: numbers where they are known, else scalars of the graph (int32)."""
    known = x._shape_tuple()
    if known is None:
        raise SizeUnknownError(f"the number of dimensions must be known here; given was {x!r}")
    if None not in known:
        return known
    asked = call("shape", (x,), {})
    return tuple(asked[i] if size is None else size for i, size in enumerate(known))


def known_rank(x):
    """The number of dimensions of a tensor, be it sparse."""
    if x.shape.rank is None:
        raise SizeUnknownError(f"the number of dimensions must be known here; given was {x!r}")
    return x.shape.rank


def known_size(x, axis):
    """The size along an axis as a number."""
    known = x._shape_tuple()
    if known is None or known[axis] is None:
        raise SizeUnknownError(f"the size of axis {axis} must be known here; given was {x!r}")
    return known[axis]


def known_sizes(x):
    """All sizes as numbers."""
    known = x._shape_tuple()
    if known is None or None in known:
        raise SizeUnknownError(f"all sizes must be known here; given was {x!r}")
    return known


def must_differ(a, b):
    """Whether two sizes, None where they are unknown, cannot be the same."""
    return a is not None and b is not None and a != b


def is_number(size):
    """Whether a size that ``sizes_of`` gave is known."""
    return not isinstance(size, Tensor)


def larger(a, b):
    """The larger of two sizes that ``sizes_of`` gave, or that were computed from such."""
    return max(a, b) if is_number(a) and is_number(b) else call("maximum", (a, b), {})


def smaller(a, b):
    return min(a, b) if is_number(a) and is_number(b) else call("minimum", (a, b), {})


def static_array(value, what):
    """The array behind a list, an array, or a tensor whose value is known already."""
    import numpy as np  # here: importing the package does not load it

    if not isinstance(value, Tensor):
        if isinstance(value, (list, tuple)):
            value = [static_array(v, what) if isinstance(v, Tensor) else v for v in value]
        return np.asarray(value)
    found = get_static_value(value)
    if found is None:
        raise SizeUnknownError(
            f"{what} must be known when the function is traced, got a tensor without a value yet, "
            f"of shape {value.shape}"
        )
    return np.asarray(found)


def static_ints(value, what):
    """Its elements as integers, in one list."""
    return [int(v) for v in static_array(value, what).ravel().tolist()]
