"""``tf.__internal__.types``: what counts as a tensor for libraries that make their own."""

from __future__ import annotations

import abc as _abc

from tidemark import _tidemark


class Tensor(metaclass=_abc.ABCMeta):  # noqa: B024  others register as it
    """A tensor, a variable, or a class of another library that stands for one."""

    __tf_is_tensor__ = True


Tensor.register(_tidemark.Tensor)
Tensor.register(_tidemark.VariableBase)
