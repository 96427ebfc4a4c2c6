"""``tf.io``: files, records, messages and encodings."""

from tidemark import _image_files
from tidemark._export import namespace as _namespace
from tidemark.io import _decode, _files, _parsing, _tfrecord, gfile
from tidemark.io._parsing import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from tidemark.io._parsing import RaggedFeature as RaggedFeature
from tidemark.io._parsing import SparseFeature as SparseFeature
from tidemark.io._tfrecord import TFRecordOptions, TFRecordWriter

globals().update(_namespace("tf.io"))

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "gfile",
]
