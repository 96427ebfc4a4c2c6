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


def write(root, prefix, makes_folder=True):
    """Writes what can be reached from the root under a prefix; the prefix."""
    prefix = os.fspath(prefix)
    folder = os.path.dirname(prefix)
    if folder and makes_folder:
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
        records.append((links, attributes, []))
    slots = []  # their objects stand behind all others
    for at, name, of, slot in _slots(found):
        key = _slot_key(found[of][0], found[at][0], name)
        records[at][2].append((of, name, len(found) + len(slots)))
        slots.append(([], [(objects.VALUE, objects.full_name(slot), key)], []))
        yield key, objects.value_of(objects.identity(slot))
    records += slots
    yield OBJECTS_KEY, convert_to_tensor(_tidemark.write_object_graph(records))


def _slots(found):
    """(number of an optimizer, name, number of a variable, what is kept beside it)."""
    variables = [
        (at, value) for at, (_, value, _) in enumerate(found) if objects.is_variable(value)
    ]
    for at, (_, value, _) in enumerate(found):
        if not objects.keeps_slots(value):
            continue
        for name in value.get_slot_names():
            for of, variable in variables:
                slot = value.get_slot(variable, name)
                if slot is not None:
                    yield at, name, of, slot


def _slot_key(variable, optimizer, name):
    parts = [*map(_escaped, variable), ".OPTIMIZER_SLOT", *map(_escaped, optimizer), _escaped(name)]
    return "/".join([*parts, ".ATTRIBUTES", objects.VALUE])
