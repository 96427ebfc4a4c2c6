"""Tensors by name in safetensors files.

``tensors = tf.safetensors.load_file("model.safetensors")``

The functions have the names and results of the package ``safetensors.tensorflow``. Tensors of a
file lie in its mapped pages: loading copies nothing, and a page is read when it is first looked at.
Nothing in a file is run; what its header says is checked before it is used.
"""

import os

from tidemark import _tidemark

__all__ = ["load", "load_file", "safe_open", "save", "save_file"]


def _texts(metadata):
    metadata = dict(metadata or {})
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(
                f"The metadata of a safetensors file are texts by name; {key!r} is {value!r}"
            )
    return metadata


def _named(tensors):
    if not isinstance(tensors, dict):
        raise TypeError(f"A dictionary of tensors by name is needed; given was {type(tensors)}")
    for name in tensors:
        if not isinstance(name, str):
            raise TypeError(f"Tensors are named by texts; given was {name!r}")
    return dict(tensors)


def save_file(tensors, filename, metadata=None):
    """Writes a dictionary of tensors, as a whole or not at all; ``metadata`` are texts by name."""
    _tidemark.write_safetensors(os.fspath(filename), _named(tensors), _texts(metadata))


def save(tensors, metadata=None):
    """The bytes that ``save_file`` writes."""
    return _tidemark.safetensors_bytes(_named(tensors), _texts(metadata))


def load_file(filename):
    """All tensors of a file by name, over its mapped pages: the file must not be cut short while
    they are in use."""
    return _tidemark.SafeTensorsFile(os.fspath(filename)).read_all()


def load(data):
    """All tensors by name, copied out of the bytes of a file."""
    return _tidemark.safetensors_from_bytes(bytes(data))


class safe_open:
    """A file whose tensors are asked for one by one.

    ``with tf.safetensors.safe_open(path) as f: w = f.get_tensor("w")``
    """

    def __init__(self, filename, framework="tf", device="cpu"):
        if framework not in ("tf", "tensorflow"):
            raise ValueError(f"Tensors are Tidemark's: framework='tf'; given was {framework!r}")
        if device != "cpu":
            raise ValueError(f"Files are mapped into the CPU's memory; device was {device!r}")
        self._file = _tidemark.SafeTensorsFile(os.fspath(filename))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file = None

    def _open(self):
        if self._file is None:
            raise ValueError("The file is closed.")
        return self._file

    def keys(self):
        """The names of the tensors, sorted."""
        return list(self._open().entries)

    def metadata(self):
        """Texts by name; None: the file has none."""
        return self._open().metadata or None

    def get_tensor(self, name):
        """The tensor of this name."""
        return self._open().read(name)
