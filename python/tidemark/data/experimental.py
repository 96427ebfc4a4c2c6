"""``tf.data.experimental``: older names of what datasets can do."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._creation import convert_to_tensor
from tidemark.data._dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from tidemark.data._options import (
    AutoShardPolicy,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ThreadingOptions,
)


def cardinality(dataset):
    """The number of elements, -1: without end, -2: not known."""
    return dataset.cardinality()


def assert_cardinality(expected_cardinality):
    """Says how many elements a dataset has."""

    def apply(dataset):
        made = dataset.take(-1)
        count = int(expected_cardinality)
        made.cardinality = lambda name=None: convert_to_tensor(count, dtype=dtypes.int64)
        return made

    return apply


def get_single_element(dataset):
    """The only element."""
    return dataset.get_single_element()


def unbatch():
    return lambda dataset: dataset.unbatch()


def prefetch_to_device(device, buffer_size=None):
    return lambda dataset: dataset.prefetch(2 if buffer_size is None else buffer_size)


def copy_to_device(target_device, source_device="/cpu:0"):
    return lambda dataset: dataset


__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneOptions",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "ThreadingOptions",
]
