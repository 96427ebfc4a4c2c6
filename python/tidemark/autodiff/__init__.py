"""``tf.autodiff``: gradient tapes and forward-mode derivatives."""

import importlib as _importlib

from tidemark.autodiff._tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]


def __getattr__(name):
    if name != "ForwardAccumulator":  # the package itself loads this module, and does not need it
        raise AttributeError(f"module 'tidemark.autodiff' has no attribute {name!r}")
    found = _importlib.import_module("tidemark.autodiff._forward").ForwardAccumulator
    globals()[name] = found
    return found


def __dir__():
    return list(__all__)
