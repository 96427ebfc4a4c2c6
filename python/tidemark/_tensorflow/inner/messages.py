"""``tensorflow.core.…_pb2``: TensorFlow's messages, as classes of the package ``protobuf``.

``messages.bin.gz``, by tools/record_messages.py, describes them. Where ``protobuf`` is not
installed the modules hold this package's own messages, as far as there are some.
"""

from __future__ import annotations

import functools
import gzip
import importlib
import pathlib
import types

_OWN = ("framework", "config", "summary")  # modules of tidemark._proto


def module(name):
    """The module ``tensorflow.<name>``; ``name`` is as ``core.framework.graph_pb2``."""
    made = types.ModuleType(f"tensorflow.{name}")
    try:
        importlib.import_module("google.protobuf")
    except ImportError:
        _fill_with_own(made)
        return made
    path = "tensorflow/" + name.removesuffix("_pb2").replace(".", "/") + ".proto"
    _fill(made, path)
    return made


def shape_message(shape):
    """A TensorShapeProto of a TensorShape."""
    made = module("core.framework.tensor_shape_pb2").TensorShapeProto()
    if shape.rank is None:
        made.unknown_rank = True
        return made
    for size in shape.as_list():
        made.dim.add(size=-1 if size is None else size)
    return made


@functools.cache
def _files():
    """path of a ``.proto`` → its description."""
    # Protobuf may be missing, and is loaded on first use.
    from google.protobuf import descriptor_pb2

    packed = (pathlib.Path(__file__).parent / "messages.bin.gz").read_bytes()
    described = descriptor_pb2.FileDescriptorSet.FromString(gzip.decompress(packed))
    return {file.name: file for file in described.file}


def _descriptor(path):
    """What the pool of the process has of a file, after those that it needs."""
    # Protobuf may be missing, and is loaded on first use.
    from google.protobuf import descriptor_pool

    pool = descriptor_pool.Default()
    try:
        return pool.FindFileByName(path)
    except KeyError:
        pass
    for needed in _files()[path].dependency:
        if needed in _files():
            _descriptor(needed)
        else:  # one of protobuf's own
            importlib.import_module(needed.removesuffix(".proto").replace("/", ".") + "_pb2")
    pool.AddSerializedFile(_files()[path].SerializeToString())
    return pool.FindFileByName(path)


def _fill(made, path):
    # Protobuf may be missing, and is loaded on first use.
    from google.protobuf.internal import builder

    made.DESCRIPTOR = _descriptor(path)
    builder.BuildMessageAndEnumDescriptors(made.DESCRIPTOR, made.__dict__)
    builder.BuildTopDescriptorsAndMessages(made.DESCRIPTOR, made.__name__, made.__dict__)


def _fill_with_own(made):
    """All messages of ours, whichever file TensorFlow has them in."""
    for name in _OWN:
        own = importlib.import_module(f"tidemark._proto.{name}")
        made.__dict__.update(
            (key, value) for key, value in vars(own).items() if not key.startswith("_")
        )
