"""``tf.data``: pipelines of elements. Made and buffered in C++; buffers are counted and bounded."""

from __future__ import annotations

from tidemark.data import experimental
from tidemark.data._dataset import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Dataset,
    DatasetSpec,
)
from tidemark.data._files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from tidemark.data._iterator import Iterator, IteratorSpec, NumpyIterator
from tidemark.data._options import Options, ThreadingOptions

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "IteratorSpec",
    "NumpyIterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
]
