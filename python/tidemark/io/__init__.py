"""``tf.io``: files, records, messages and encodings."""

import importlib as _importlib

from tidemark._export import namespace as _namespace
from tidemark._export import refusing as _refusing
from tidemark.io import _decode, _files, _parsing, _sequences, _tfrecord, gfile
from tidemark.io._parsing import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from tidemark.io._parsing import RaggedFeature as RaggedFeature
from tidemark.io._parsing import SparseFeature as SparseFeature
from tidemark.io._tfrecord import TFRecordOptions, TFRecordWriter

globals().update(_namespace("tf.io"))
_OF_IMAGES = (  # written beside tf.image, which programs that read records do without
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "is_jpeg",
)
_RARE = {name: "tidemark.image._files" for name in _OF_IMAGES}
_RARE["decode_json_example"] = "tidemark.io._json_examples"
_RARE["match_filenames_once"] = "tidemark.io._files"
_RARE.update(dict.fromkeys(
    ("serialize_sparse", "serialize_many_sparse", "deserialize_many_sparse"),
    "tidemark.sparse._serializing",
))  # fmt: skip


def __getattr__(name):
    if name == "tf_record_iterator":  # of TensorFlow 1
        return _tfrecord.tf_record_iterator
    if name not in _RARE:
        return _refusing("tf.io")(name)
    found = getattr(_importlib.import_module(_RARE[name]), name)
    globals()[name] = found
    return found


def __dir__():
    return sorted({*_RARE, *(name for name in globals() if not name.startswith("_"))})


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a graph to a file, as text or as bytes; gives its path."""
    from tidemark._v1.graph_def.rewriting import write_graph as write  # only sessions need it

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
