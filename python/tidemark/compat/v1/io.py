"""``tf.compat.v1.io``: TensorFlow 1's argument orders, and records one by one."""

from __future__ import annotations

from tidemark import io as _io
from tidemark.io._tfrecord import tf_record_iterator

__all__ = ["TFRecordCompressionType", "tf_record_iterator"]


class TFRecordCompressionType:
    """How records are packed."""

    NONE, ZLIB, GZIP = 0, 1, 2


def parse_example(serialized, features, name=None, example_names=None):
    """The features of serialized Example messages, by name."""
    return _io.parse_example(serialized, features, example_names, name)


def parse_single_example(serialized, features, name=None, example_names=None):
    """The features of one serialized Example message, by name."""
    return _io.parse_single_example(serialized, features, example_names, name)


def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):
    """The bytes of strings as numbers."""
    given = bytes if input_bytes is None else input_bytes
    return _io.decode_raw(given, out_type, little_endian)


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, name=None,
               na_value="", select_cols=None):  # fmt: skip
    """The columns of lines of text."""
    return _io.decode_csv(
        records, record_defaults, field_delim, use_quote_delim, na_value, select_cols
    )


def __getattr__(name):
    from tidemark._v1 import old_names  # the queues of sessions

    if name in ("QueueBase", "RandomShuffleQueue"):
        return old_names.find(name)
    return getattr(_io, name)
