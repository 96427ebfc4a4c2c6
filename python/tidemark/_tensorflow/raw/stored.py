"""Operations that write and read checkpoints."""

from __future__ import annotations

import os

import numpy as np

import tidemark as tf
from tidemark._trackable.checkpoint_files import (
    open_checkpoint,
    remove_checkpoint,
    write_tensors,
)


def _texts(tensor):
    return [text.decode() for text in np.ravel(np.array(tensor.numpy(), dtype=object))]


def _refuse_slices(shapes_and_slices):
    if any(shapes_and_slices):
        raise tf.errors.UnimplementedError(
            None, None, "parts of tensors are not read or written alone: pass '' for each"
        )


def _save(prefix, tensor_names, shape_and_slices, tensors):
    _refuse_slices(_texts(shape_and_slices))
    write_tensors(_texts(prefix)[0], zip(_texts(tensor_names), tensors, strict=True))


def _restore(prefix, tensor_names, shape_and_slices, dtypes):
    _refuse_slices(_texts(shape_and_slices))
    file = open_checkpoint(_texts(prefix)[0])
    found = [file.read(name) for name in _texts(tensor_names)]
    for name, tensor, dtype in zip(_texts(tensor_names), found, dtypes, strict=True):
        if tensor.dtype != dtype:
            raise tf.errors.InvalidArgumentError(
                None, None,
                f"tensor {name!r} is {tensor.dtype.name} in the checkpoint; asked for as "
                f"{dtype.name}",
            )  # fmt: skip
    return found


def _merge(checkpoint_prefixes, destination_prefix, delete_old_dirs, allow_missing_files):
    """One checkpoint of several, whose files go, and their folders if nothing else is in them."""
    parts = _texts(checkpoint_prefixes)
    tensors = {}
    for part in parts:
        try:
            file = open_checkpoint(part)
        except tf.errors.NotFoundError:
            if not allow_missing_files:
                raise
            continue
        tensors.update((name, file.read(name)) for name in file.entries)
    write_tensors(_texts(destination_prefix)[0], sorted(tensors.items()))
    for part in parts:
        remove_checkpoint(part)
        folder = os.path.dirname(part)
        if delete_old_dirs and folder and not os.listdir(folder):
            os.rmdir(folder)


WRITTEN = {"MergeV2Checkpoints": _merge, "RestoreV2": _restore, "SaveV2": _save}
