"""Files by name: ``tf.io.write_file``, ``tf.io.matching_files``."""

from __future__ import annotations

import os

from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import is_tracing
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


def match_filenames_once(pattern, name=None):
    """A variable with the names of the files that match: looked for once."""
    # Variables are loaded with the first of them; graphs have them in collections.
    from tidemark.compat.v1 import GraphKeys, Variable

    return Variable(lambda: matching_files(pattern), trainable=False, validate_shape=False,
                    name=name or "matching_filenames", dtype=dtypes.string,
                    collections=[GraphKeys.LOCAL_VARIABLES])  # fmt: skip


@export("tf.io.matching_files")
def matching_files(pattern, name=None):
    """The names of the files that match a pattern, or one of several."""
    pattern = convert_to_tensor(pattern, dtype=dtypes.string)
    if is_tracing():  # whenever the graph runs
        from tidemark._graph.staged import python_call  # only graphs need it

        return python_call(_matching, [pattern], [(dtypes.string, (None,))])[0]
    return _matching(pattern)


def _matching(pattern):
    patterns = pattern.numpy()
    patterns = [patterns] if isinstance(patterns, bytes) else patterns.ravel().tolist()
    names = sorted({name for each in patterns for name in gfile.glob(os.fsdecode(each))})
    return convert_to_tensor(names, dtype=dtypes.string)
