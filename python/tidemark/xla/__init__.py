"""``tf.xla``: TensorFlow's names for its compiler; functions are compiled in any case here."""

from __future__ import annotations

import importlib as _importlib


def __getattr__(name):
    if name != "experimental":
        raise AttributeError(f"module 'tidemark.xla' has no attribute {name!r}")
    return _importlib.import_module("tidemark.xla.experimental")


def __dir__():
    return ["experimental"]
