"""``tf.compat.v1.flags``: the flags of absl, the package that TensorFlow takes them from."""

from __future__ import annotations

import importlib as _importlib


def _absl(name):
    try:
        return _importlib.import_module(f"absl.{name}")
    except ImportError:
        raise ImportError(
            f"tf.compat.v1.{name} is absl's: install it with `pip install absl-py`"
        ) from None


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_absl("flags"), name)


def __dir__():
    return dir(_absl("flags"))
