"""``tf.__internal__.types``: what counts as a tensor for libraries that make their own."""

from __future__ import annotations

import abc as _abc

from tidemark import _tidemark
from tidemark._tensor.variable import Variable as _Variable


class _TensorType(type(_Variable), _abc.ABCMeta):
    """Classes register as it; a class may be a variable and such a one."""

    __instancecheck__ = _abc.ABCMeta.__instancecheck__


class Tensor(metaclass=_TensorType):
    """A tensor, a variable, or a class of another library that stands for one."""

    __tf_is_tensor__ = True


Tensor.register(_tidemark.Tensor)
Tensor.register(_tidemark.VariableBase)
