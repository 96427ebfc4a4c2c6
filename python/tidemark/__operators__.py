"""``tf.__operators__``: the operators of tensors as functions."""

from __future__ import annotations

import operator as _operator

from tidemark._export import dispatching as _dispatching
from tidemark._tidemark import convert as _convert


def _binary(name, does):
    def function(x, y):
        return does(_convert(x), y)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"What the operator gives for two tensors: ``operator.{does.__name__}``."
    function.__tf_names__ = (f"tf.__operators__.{name}",)
    return _dispatching(function)


add = _binary("add", _operator.add)
eq = _binary("eq", _operator.eq)
ne = _binary("ne", _operator.ne)


@_dispatching
def getitem(tensor, slice_spec, var=None):
    """A part of a tensor: ``tensor[slice_spec]``."""
    return _convert(tensor)[slice_spec]


getitem.__tf_names__ = ("tf.__operators__.getitem",)


@_dispatching
def ragged_getitem(rt_input, key):
    """A part of a ragged tensor: ``rt_input[key]``."""
    if not hasattr(rt_input, "row_splits"):
        raise TypeError(f"a ragged tensor is wanted; given was {type(rt_input).__name__}")
    return rt_input[key]
