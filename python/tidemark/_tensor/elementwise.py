"""Which functions work on each element by itself, for tensors that are more than their elements.

The definitions of the ops say it; functions written in Python are known by the name of the op that
they are, and the few that are made of several ops stand here.
"""

from __future__ import annotations

import functools

from tidemark import _tidemark

_MADE_OF_SEVERAL = {"divide": 2, "reciprocal_no_nan": 1, "saturate_cast": 1}


def _tensors(schema):
    """How many tensors the op takes if it works on elements, else 0."""
    if not schema["works_on_elements"]:
        return 0
    return sum(param["kind"] != "attr" for param in schema["params"])


@functools.cache
def _by_name():
    """Last part of a public name → how many tensors a function of that name takes."""
    found = dict(_MADE_OF_SEVERAL)
    for schema in _tidemark.list_ops():
        count = _tensors(schema)
        for name in (schema["name"], *schema["python_names"]) if count else ():
            found[name.rpartition(".")[2]] = count
    return found


def tensors_of_elementwise(function):
    """How many tensors a function that works on elements takes; 0: it does not."""
    op = getattr(function, "op_name", None)
    if op is not None:
        return _tensors(_tidemark.op_schema(op))
    return _by_name().get(function.__name__, 0)


__all__ = ["tensors_of_elementwise"]
