"""Writing a checkpoint: one file, there as a whole or not at all."""

from __future__ import annotations

import json
import os

from tidemark import _tidemark
from tidemark.train._checkpoints import objects

SUFFIX = ".tidemark"


def _escaped(name):
    return name.replace(".", "..").replace("/", ".S")


def write(root, prefix):
    """Writes what can be reached from the root under a prefix; the prefix."""
    prefix = os.fspath(prefix)
    folder = os.path.dirname(prefix)
    if folder:
        os.makedirs(folder, exist_ok=True)
    numbers, records, tensors, held = {}, [], {}, []
    for path, value, parts in objects.walk(root):
        identity = objects.identity(value)
        held.append((identity, parts))
        numbers[id(identity)] = len(records)
        where = "/".join(map(_escaped, path))
        state = {}
        for name, get in objects.saveable_state(value).items():
            key = f"{where}/.ATTRIBUTES/{name}" if where else f".ATTRIBUTES/{name}"
            tensors[key], state[name] = get(), key
        records.append({"children": {}, "state": state})
    for record, (_, parts) in zip(records, held, strict=True):
        for name, part in parts.items():
            record["children"][name] = numbers[id(objects.identity(part))]
    metadata = json.dumps({"objects": records})
    _tidemark.write_tensors(prefix + SUFFIX, tensors, metadata)
    return prefix
