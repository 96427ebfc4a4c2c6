"""``tf.math``: the ops on numbers, elementwise and reducing."""

from tidemark import _array_ops, _math_ops  # noqa: F401  what they export belongs here, too
from tidemark._export import namespace as _namespace

_LATER = {"softmax": "nn", "log_softmax": "nn"}  # written in modules loaded on first use

globals().update(_namespace("tf.math"))


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module 'tidemark.math' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module("tidemark." + _LATER[name]), name)
    globals()[name] = found
    return found


def __dir__():
    return sorted({*_LATER, *(name for name in globals() if not name.startswith("_"))})
