"""A Python number that is an input of a graph.

It adapts to what stands beside it, as the number itself would: a float64 tensor times ``rate``
stays float64 and exact. Code that needs the value (``range(n)``, ``float(rate)``, an index)
raises, and the function is traced for that value alone.
"""

from __future__ import annotations

import tidemark as tf
from tidemark import _tidemark, dtypes
from tidemark._export import OPS

_USUAL = {int: dtypes.int32, float: dtypes.float32, complex: dtypes.complex128}


class ValueNeeded(TypeError):
    """The trace needs the value of a number that is an input."""


def _needs_value(self, *_):
    raise ValueNeeded(
        f"the value of a Python {self._type.__name__} is needed while the function is traced"
    )


class TracedNumber:
    """Stands for a Python number while a function is traced."""

    __slots__ = ("_type", "_wide", "_cast")

    def __init__(self, type_, wide):
        self._type, self._wide, self._cast = type_, wide, {}

    dtype = property(lambda self: _USUAL[self._type])
    shape = property(lambda self: self._wide.shape)

    def __tf_tensor__(self, dtype=None, name=None):
        dtype = dtypes.as_dtype(dtype) if dtype is not None else _USUAL[self._type]
        graph = _tidemark.current_graph_id()
        known = self._cast.get((graph, dtype))
        if known is None:
            known = self._cast[(graph, dtype)] = OPS["tf.cast"](self._wide, dtype)
        return known

    __bool__ = __int__ = __float__ = __index__ = __complex__ = __round__ = __hash__ = _needs_value
    __trunc__ = __floor__ = __ceil__ = __format__ = _needs_value

    def __repr__(self):
        return f"<{self._type.__name__}, an input of the function being traced>"


def _binary(name, reflected=False):
    def method(self, other):
        op = getattr(tf.math, name)
        return op(other, self) if reflected else op(self, other)

    return method


for _method, _name in {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "truediv",
    "floordiv": "floordiv",
    "mod": "floormod",
    "pow": "pow",
}.items():
    setattr(TracedNumber, f"__{_method}__", _binary(_name))
    setattr(TracedNumber, f"__r{_method}__", _binary(_name, reflected=True))
for _method, _name in {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}.items():
    setattr(TracedNumber, f"__{_method}__", _binary(_name))
TracedNumber.__neg__ = lambda self: tf.math.negative(self)
TracedNumber.__abs__ = lambda self: tf.math.abs(self)
TracedNumber.__hash__ = _needs_value
_tidemark.set_adapting_class(TracedNumber)
