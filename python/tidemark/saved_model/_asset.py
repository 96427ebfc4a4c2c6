"""Files that belong to a model: they are saved beside it, and found wherever it is loaded from."""

from __future__ import annotations

import os

import numpy as np

from tidemark import dtypes
from tidemark._tensor.creation import convert_to_tensor
from tidemark._trackable.tracking import AutoTrackable


class Asset(AutoTrackable):
    """A file of a model. Functions that are saved refer to it by ``asset_path``: where a saved one
    has this path, a loaded one has the place of the model's own copy."""

    def __init__(self, path):
        text = path.numpy() if hasattr(path, "numpy") else path
        self._path = os.fsdecode(text)

    @property
    def asset_path(self):
        """Where the file is now, as a tensor."""
        return convert_to_tensor(self._path, dtypes.string)


def asset_key(path):
    """What stands for a file where functions say what they use."""
    return "asset", os.fsencode(path)


def asset_of(tensor, known):
    """The key among ``known`` of the file whose path the tensor is; None."""
    if not known or tensor.dtype != dtypes.string or tensor.shape.rank != 0:
        return None
    key = "asset", bytes(np.asarray(tensor.numpy()).item())
    return key if key in known else None


__all__ = ["Asset", "asset_key", "asset_of"]
