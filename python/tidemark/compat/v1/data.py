"""``tf.compat.v1.data``: datasets whose elements sessions take, one each run."""

from __future__ import annotations

import functools as _functools

from tidemark import data as _data
from tidemark import nest as _nest
from tidemark._v1.iterators import (
    Iterator,
    make_initializable_iterator,
    make_one_shot_iterator,
    output_classes,
    output_shapes,
    output_types,
)

__all__ = ["Dataset", "Iterator", "make_initializable_iterator", "make_one_shot_iterator"]


def get_output_types(dataset_or_iterator):
    """The dtypes of an element's tensors."""
    return output_types(dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator):
    """The shapes of an element's tensors."""
    return output_shapes(dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator):
    """The kinds of tensors an element is made of."""
    return output_classes(dataset_or_iterator.element_spec)


class Dataset(_data.Dataset):
    """A dataset with TensorFlow 1's methods; what is made of it is one again."""

    def __init__(self, dataset):
        self.__dict__.update(vars(dataset))

    output_types = property(get_output_types)
    output_shapes = property(get_output_shapes)
    output_classes = property(get_output_classes)

    def make_one_shot_iterator(self):
        """An iterator that every session starts by itself."""
        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name=None):
        """An iterator that its ``initializer`` starts."""
        return make_initializable_iterator(self, shared_name)

    def map_with_legacy_function(self, map_func, num_parallel_calls=None, deterministic=None):
        return self.map(map_func, num_parallel_calls, deterministic)

    def filter_with_legacy_function(self, predicate):
        return self.filter(predicate)


def _as_v1(function):
    @_functools.wraps(function)
    def made(*args, **kwargs):
        found = function(*args, **kwargs)
        return _nest.map_structure(
            lambda item: Dataset(item) if isinstance(item, _data.Dataset) else item, found
        )

    return made


def _adapt():
    """Every method that makes a dataset makes one of this kind."""
    for name in dir(_data.Dataset):
        found = vars(_data.Dataset).get(name)
        if name.startswith("_") or found is None or name in vars(Dataset):
            continue
        if isinstance(found, staticmethod):
            setattr(Dataset, name, staticmethod(_as_v1(found.__func__)))
        elif callable(found):
            setattr(Dataset, name, _as_v1(found))


_adapt()
FixedLengthRecordDataset = _as_v1(_data.FixedLengthRecordDataset)
TFRecordDataset = _as_v1(_data.TFRecordDataset)
TextLineDataset = _as_v1(_data.TextLineDataset)


def __getattr__(name):
    if name == "IteratorSpec":
        raise AttributeError("module 'tensorflow.compat.v1.data' has no attribute 'IteratorSpec'")
    return getattr(_data, name)
