"""``tf.compat``: text and bytes, and TensorFlow 1's names in ``tf.compat.v1``."""

from __future__ import annotations

import numbers as _numbers
import os as _os
import sys as _sys

import numpy as _np

from tidemark.tensor_shape import Dimension as _Dimension

integral_types = (_numbers.Integral, _np.integer)
real_types = (_numbers.Real, _np.integer, _np.floating)
complex_types = (_numbers.Complex, _np.number)
bytes_or_text_types = (bytes, str)


def _encoding(encoding):
    import codecs  # at the top it would be a name of tf.compat

    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise LookupError(f"unknown encoding: {encoding}") from None


def as_bytes(bytes_or_text, encoding="utf-8"):
    """Text as bytes; bytes as they are."""
    encoding = _encoding(encoding)
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text, encoding="utf-8"):
    """Bytes as text; text as it is."""
    encoding = _encoding(encoding)
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value, encoding="utf-8"):
    """Bytes as text; anything else as ``str`` gives it."""
    return as_str(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path):
    """A path object as text; anything else as it is."""
    return as_str_any(_os.fspath(path)) if hasattr(path, "__fspath__") else path


def dimension_value(dimension):
    """The size in a Dimension; anything else as it is."""
    return dimension.value if isinstance(dimension, _Dimension) else dimension


def dimension_at_index(shape, index):
    """The Dimension of a shape at an index; unknown if the rank is."""
    if shape.rank is None:
        return _Dimension(None)
    return _Dimension(shape[index])


def forward_compatible(year, month, day):
    """Whether what was written before the date may be read differently; always, here."""
    return True


def forward_compatibility_horizon(year, month, day):
    """A context in which ``forward_compatible`` says what it says."""
    import contextlib  # at the top it would be a name of tf.compat

    return contextlib.nullcontext()


def __getattr__(name):
    if name == "v1":
        import importlib  # at the top it would be a name of tf.compat

        return importlib.import_module("tidemark.compat.v1")
    if name == "v2":
        return _sys.modules["tidemark"]
    raise AttributeError(f"module 'tidemark.compat' has no attribute {name!r}")
