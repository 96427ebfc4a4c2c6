"""Tensors by name from files of weights, in whatever format they are.

    tensors = tf.weights.load("model.pt")            # {"encoder.weight": <Tensor>, ...}
    with tf.weights.open("model.npz") as file:       # one by one
        w = file["w"]
    tf.weights.save(tensors, "model.safetensors")

Read are safetensors, ``.npz`` and ``.npy``, PyTorch's ``.pt`` and ``.pth``, HDF5 as Keras 2 and 3
write it (``.h5``, ``.keras``) and TensorFlow's checkpoints; the format is told from the bytes. No
code in a file is run: a pickle that holds more than tensors, dictionaries, numbers and texts is
refused. Written are ``.safetensors`` and ``.npz``.
"""

from __future__ import annotations

import builtins
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tidemark import _tidemark, safetensors
from tidemark.errors import InvalidArgumentError

__all__ = ["WeightsFile", "load", "open", "save"]


class WeightsFile(Mapping):
    """A file of weights as a mapping: a tensor is read when it is asked for."""

    def __init__(self, path):
        self._file = _tidemark.open_weights(os.fspath(path))
        self._entries = self._file.entries

    @property
    def format(self):
        """ "safetensors", "npz", "torch", "hdf5" or "checkpoint"."""
        return self._file.format

    def __getitem__(self, name):
        if name not in self._entries:
            raise KeyError(name)
        return self._file.read(name)

    def __iter__(self):
        return iter(self._entries)

    def __len__(self):
        return len(self._entries)

    def describe(self, name):
        """(type, shape, bytes) of a tensor, without reading it."""
        kind, shape, count = self._entries[name]
        return kind, tuple(shape), count

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file = None

    def __repr__(self):
        return f"<{self.format} file of {len(self)} tensors>"


def open(path):
    """The file at ``path``, whose tensors are read one by one. See ``WeightsFile``."""
    return WeightsFile(path)


def load(path):
    """All tensors of a file by name. They lie in its mapped pages where the format allows it: the
    file must not be cut short while they are in use."""
    with WeightsFile(path) as file:
        return dict(file.items())


def _without_form(tensors):
    """Names of what NumPy's files have no form for, with their types."""
    for name in tensors:
        if isinstance(tensors, WeightsFile):
            kind = tensors.describe(name)[0].lower()
        else:
            kind = np.asarray(tensors[name]).dtype.name
        if kind in ("string", "object", "bf16") or kind.startswith(("bfloat16", "str", "bytes")):
            yield f"'{name}' of {kind}"


def _save_npz(tensors, path):
    refused = list(_without_form(tensors))
    if refused:
        raise InvalidArgumentError(
            None, None, "npz has no form for these dtypes:\n  " + "\n  ".join(refused)
        )
    # One array after the other, so that no more than one is there twice.
    working = path.with_name(f"{path.name}.writing-{os.getpid()}")
    try:
        with zipfile.ZipFile(working, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for name, value in tensors.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(value), allow_pickle=False)
        with builtins.open(working, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(working, path)
    finally:
        working.unlink(missing_ok=True)


def save(tensors, path):
    """Writes tensors by name as ``.safetensors`` or ``.npz``, as a whole or not at all."""
    path = Path(path)
    if path.suffix == ".safetensors":
        safetensors.save_file(dict(tensors), path)
    elif path.suffix == ".npz":
        _save_npz(tensors, path)
    else:
        raise InvalidArgumentError(
            None, None, f"Weights are written as .safetensors or .npz; the path was {path}."
        )
