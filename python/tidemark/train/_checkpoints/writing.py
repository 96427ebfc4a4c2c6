"""Writing a checkpoint in TensorFlow's format, one tensor after the other."""

from __future__ import annotations

import os

from tidemark import _tidemark
from tidemark._graph.tracing import lifted
from tidemark._tensor.creation import convert_to_tensor
from tidemark._trackable.checkpoint_files import OBJECTS_KEY, write_tensors
from tidemark.train._checkpoints import objects


def _escaped(name):
    return name.replace(".", "..").replace("/", ".S")


def write(root, prefix):
    """Writes what can be reached from the root under a prefix; the prefix."""
    prefix = os.fspath(prefix)
    folder = os.path.dirname(prefix)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with lifted():  # values are written, whatever graph is being built
        write_tensors(prefix, _tensors(list(objects.walk(root))))
    return prefix


def _tensors(found):
    """(key, tensor) of every state, each made when its turn comes, and of the objects."""
    numbers = {id(objects.identity(value)): at for at, (_, value, _) in enumerate(found)}
    records = []
    for path, value, parts in found:
        links = [(name, numbers[id(objects.identity(part))]) for name, part in parts.items()]
        attributes = []
        state = objects.saveable_state(value)
        if state is not None:
            key = "/".join([*map(_escaped, path), ".ATTRIBUTES", _escaped(state.name)])
            attributes.append((state.name, objects.full_name(value), key))
            for suffix, get in state.tensors.items():
                yield key + suffix, get()
        records.append((links, attributes))
    yield OBJECTS_KEY, convert_to_tensor(_tidemark.write_object_graph(records))
