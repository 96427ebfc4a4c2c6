"""Kinds of datasets and iterators, as ``tensorflow.python.data.ops`` names them."""

from __future__ import annotations

from tidemark import data
from tidemark._tensor.optional import OptionalSpec
from tidemark.data import Iterator as OwnedIterator


class _KindOfDataset(type):
    """A dataset is of the kind if its first step is one of those named."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, data.Dataset) and cls._is_kind(instance)


class _Kind(metaclass=_KindOfDataset):
    _is_kind = staticmethod(lambda dataset: False)


class _GeneratorDataset(_Kind):
    """A dataset over a Python generator."""


class _SparseTensorSliceDataset(_Kind):
    """A dataset over the rows of a sparse tensor."""


class _TensorSliceDataset(_Kind):
    """A dataset over the rows of tensors."""


class _TensorDataset(_Kind):
    """A dataset of one element."""


class _RangeDataset(_Kind):
    """A dataset of numbers in a row."""


class NoneTensorSpec(OptionalSpec):
    """The spec of None."""

    __slots__ = ()


__all__ = ["OwnedIterator"]
