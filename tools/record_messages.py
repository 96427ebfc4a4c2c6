#!/usr/bin/env python3
"""Records how TensorFlow's messages are laid out; run by hand, with its Python.

    python-with-tensorflow tools/record_messages.py

It writes names, numbers and types of fields, a compressed ``FileDescriptorSet``, for
``tensorflow.core`` (tidemark/_tensorflow/inner/messages.py).
"""

from __future__ import annotations

import gzip
import importlib
import pkgutil
from pathlib import Path

TARGET = (
    Path(__file__).resolve().parent.parent / "python/tidemark/_tensorflow/inner/messages.bin.gz"
)


def add(file, described, seen):
    if file.name in seen or file.name.startswith("google/protobuf/"):
        return
    seen.add(file.name)
    for needed in file.dependencies:
        add(needed, described, seen)
    file.CopyToProto(described.file.add())


def main():
    from google.protobuf import descriptor_pb2

    core = importlib.import_module("tensorflow.core")
    described, seen = descriptor_pb2.FileDescriptorSet(), set()
    for info in pkgutil.walk_packages(core.__path__, "tensorflow.core."):
        if info.name.endswith("_pb2") and "_grpc" not in info.name:
            add(importlib.import_module(info.name).DESCRIPTOR, described, seen)
    TARGET.write_bytes(gzip.compress(described.SerializeToString(), 9, mtime=0))
    print(f"{len(seen)} files, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
