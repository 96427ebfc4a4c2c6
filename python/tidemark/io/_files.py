"""Files by name: ``tf.io.write_file``, ``tf.io.matching_files``."""

from __future__ import annotations

import os

from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import convert_to_tensor
from tidemark.errors import InvalidArgumentError
from tidemark.io import gfile


def _scalar(value, what):
    value = convert_to_tensor(value, dtype=dtypes.string)
    if value.ndim != 0:
        raise InvalidArgumentError(None, None, f"{what} must be a scalar, got shape {value.shape}")
    return value.numpy()


@export("tf.io.write_file")
def write_file(filename, contents, name=None):
    """Writes a string to a file, making its folder when there is none."""
    path = _scalar(filename, "filename")
    data = _scalar(contents, "contents")
    folder = os.path.dirname(path)
    if folder:
        gfile.makedirs(folder)
    with gfile.GFile(path, "wb") as file:
        file.write(data)


@export("tf.io.matching_files")
def matching_files(pattern, name=None):
    """The names of the files that match a pattern, or one of several."""
    patterns = convert_to_tensor(pattern, dtype=dtypes.string).numpy()
    patterns = [patterns] if isinstance(patterns, bytes) else patterns.ravel().tolist()
    names = sorted({name for each in patterns for name in gfile.glob(os.fsdecode(each))})
    return convert_to_tensor(names, dtype=dtypes.string)
