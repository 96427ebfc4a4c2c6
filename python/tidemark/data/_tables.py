"""Lookup tables made of datasets: ``tf.data.experimental.table_from_dataset`` and its kin."""

from __future__ import annotations

import tidemark as tf
from tidemark import dtypes
from tidemark._tensor.specs import TensorSpec
from tidemark.data._dataset import DatasetV2
from tidemark.lookup._initializers import TableInitializerBase


class DatasetInitializer(TableInitializerBase):
    """Fills a static table with the pairs that a dataset gives."""

    def __init__(self, dataset):
        spec = dataset.element_spec if isinstance(dataset, DatasetV2) else None
        is_pair = isinstance(spec, tuple) and len(spec) == 2
        if not is_pair or not all(isinstance(one, TensorSpec) for one in spec):
            raise ValueError(f"a dataset of pairs of keys and values was expected, got {dataset!r}")
        self._dataset = dataset
        super().__init__(spec[0].dtype, spec[1].dtype)

    def contents(self):
        """All keys and all values."""
        pairs = list(self._dataset)
        if not pairs:
            return tf.zeros([0], self.key_dtype), tf.zeros([0], self.value_dtype)
        keys, values = (tf.stack(one) for one in zip(*pairs, strict=True))
        return tf.reshape(keys, [-1]), tf.reshape(values, [-1])


def table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=None,
                       hasher_spec=None,
                       key_dtype=dtypes.string, name=None):  # fmt: skip
    """A table of a dataset's keys and values."""
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got "
                         f"{num_oov_buckets}.")  # fmt: skip
    if vocab_size is not None:
        if vocab_size < 1:
            raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
        dataset = dataset.take(vocab_size)
    initializer = DatasetInitializer(dataset)
    if num_oov_buckets:
        return tf.lookup.StaticVocabularyTable(initializer, num_oov_buckets)
    if default_value is None:
        default_value = "" if initializer.value_dtype == dtypes.string else -1
    return tf.lookup.StaticHashTable(initializer, default_value)


def index_table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=-1,
                             hasher_spec=None, key_dtype=dtypes.string, name=None):  # fmt: skip
    """A table of a dataset's elements and their places in it."""
    numbered = dataset.enumerate().map(lambda place, key: (key, place))
    return table_from_dataset(numbered, num_oov_buckets, vocab_size, default_value)


class Reducer:
    """What becomes of a group of elements: a state at first, after each element, and at the end."""

    def __init__(self, init_func, reduce_func, finalize_func):
        self.init_func, self.reduce_func = init_func, reduce_func
        self.finalize_func = finalize_func


def group_by_reducer(key_func, reducer):
    """What a Reducer makes of each group of elements with equal keys."""

    def reduced(key, group):
        state = group.reduce(reducer.init_func(key), reducer.reduce_func)
        return DatasetV2.from_tensors(reducer.finalize_func(state))

    return lambda dataset: dataset.group_by_window(key_func, reduced, dtypes.int64.max)
