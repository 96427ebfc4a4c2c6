"""``tf.io``: files, records, messages and encodings."""

from tidemark import _image_files
from tidemark._export import namespace as _namespace
from tidemark.io import _decode, _files, _parsing, _sequences, _tfrecord, gfile
from tidemark.io._parsing import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from tidemark.io._parsing import RaggedFeature as RaggedFeature
from tidemark.io._parsing import SparseFeature as SparseFeature
from tidemark.io._tfrecord import TFRecordOptions, TFRecordWriter

globals().update(_namespace("tf.io"))


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a graph to a file, as text or as bytes; gives its path."""
    from tidemark._v1.graph_def.rewriting import write_graph as write

    return write(graph_or_graph_def, logdir, name, as_text)


__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "gfile",
    "write_graph",
]
