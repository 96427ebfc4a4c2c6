"""The files of checkpoints: TensorFlow's, and those that earlier versions wrote, read alike.

A checkpoint ``model-10`` is ``model-10.index`` and ``model-10.data-00000-of-00001``
(docs/saved-model.md). One file ``model-10.tidemark`` in their place is read as well.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import NamedTuple

from tidemark import _tidemark, errors
from tidemark.dtypes import as_dtype

OBJECTS_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
_INDEX, _EARLIER = ".index", ".tidemark"


class ObjectRecord(NamedTuple):
    """An object in a checkpoint."""

    children: dict  # name → number of the record
    state: dict  # name of a part of the state → key of its tensor
    full_names: dict  # that name → the name of the variable in TensorFlow 1
    slots: dict  # (number of a variable, name) → number of what an optimizer keeps beside it


class TensorFlowFile:
    """A checkpoint in TensorFlow's format."""

    def __init__(self, prefix):
        self.prefix = prefix
        self._reader = _tidemark.BundleReader(prefix)
        self.entries = {
            key: (as_dtype(dtype), list(shape))
            for key, (dtype, shape) in self._reader.entries.items()
        }

    def read(self, key):
        """The tensor of this key."""
        return self._reader.read(key)

    def verify(self, key):
        """Raises what ``read`` would, and keeps nothing."""
        self._reader.verify(key)

    def objects(self):
        """The objects it was written from, the root first; None: it knows names alone."""
        if OBJECTS_KEY not in self.entries:
            return None
        found = _tidemark.read_object_graph(self.read(OBJECTS_KEY).numpy())
        return [
            ObjectRecord(
                dict(children),
                {name: key for name, _, key in attributes},
                {name: full_name for name, full_name, _ in attributes},
                {(variable, name): number for variable, name, number in slots},
            )
            for children, attributes, slots in found
        ]


class EarlierFile:
    """A checkpoint in one file of Tidemark's own format."""

    # What the parts of an object's state were called.
    _NAMES = {"PYTHON_STATE": "py_state", "keys": "table-keys", "values": "table-values"}

    def __init__(self, prefix):
        self.prefix = prefix
        self._file = _tidemark.TensorFile(prefix + _EARLIER)
        self._keys = {}  # as TensorFlow has them → as they are in the file
        self.entries = {}
        for key, (dtype, shape) in self._file.entries.items():
            where, mark, name = key.rpartition(".ATTRIBUTES/")
            known = where + mark + self._NAMES.get(name, name) if mark else key
            self._keys[known] = key
            self.entries[known] = (as_dtype(dtype), list(shape))

    def read(self, key):
        """As TensorFlowFile."""
        return self._file.read(self._keys[key])

    def verify(self, key):
        """As TensorFlowFile."""
        self.read(key)

    def objects(self):
        """As TensorFlowFile."""
        if not self._file.metadata:
            return None
        try:
            known = json.loads(self._file.metadata)["objects"]
            return [self._record(one["children"], one["state"], len(known)) for one in known]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise errors.DataLossError(
                None, None, f"{self.prefix} holds no objects, or is damaged: {error}"
            ) from None

    def _record(self, children, state, count):
        if not all(isinstance(n, int) and 0 <= n < count for n in children.values()):
            raise ValueError("an object is missing")
        found = {}
        for name, key in state.items():
            where, mark, _ = key.rpartition(".ATTRIBUTES/")
            known = self._NAMES.get(name, name).partition("-")[0]
            found[known] = where + mark + known
        return ObjectRecord(dict(children), found, {}, {})


def open_checkpoint(prefix):
    """What a checkpoint holds; NotFoundError where there is none."""
    prefix = os.fspath(prefix)
    for kind, suffix in ((TensorFlowFile, _INDEX), (EarlierFile, _EARLIER)):
        plain = prefix.removesuffix(suffix)
        if os.path.exists(plain + suffix):
            return kind(plain)
    raise errors.NotFoundError(
        None, None, "Unsuccessful TensorSliceReader constructor: Failed to find any matching "
        f"files for {prefix}",
    )  # fmt: skip


def checkpoint_exists(checkpoint_prefix):
    """Whether there is a checkpoint of this name."""
    prefix = os.fspath(checkpoint_prefix)
    return os.path.exists(prefix + _INDEX) or os.path.exists(prefix + _EARLIER)


def modification_time(prefix):
    """When a checkpoint was written; OSError where there is none."""
    try:
        return os.path.getmtime(prefix + _INDEX)
    except FileNotFoundError:
        return os.path.getmtime(prefix + _EARLIER)


def remove_checkpoint(prefix):
    """Removes the files of a checkpoint, and the graph that TensorFlow 1 writes beside it."""
    _tidemark.remove_bundle(prefix)
    for suffix in (_EARLIER, ".meta"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(prefix + suffix)


def write_tensors(prefix, tensors):
    """Writes (key, tensor) one after the other: whole, or not at all."""
    writer = _tidemark.BundleWriter(prefix)
    for key, tensor in tensors:
        writer.add(key, tensor)
    writer.finish()
    with contextlib.suppress(FileNotFoundError):  # what it takes the place of
        os.unlink(prefix + _EARLIER)
