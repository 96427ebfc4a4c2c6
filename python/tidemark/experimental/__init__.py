"""``tf.experimental``: what TensorFlow keeps there."""

import importlib as _importlib

from tidemark import _tidemark
from tidemark.experimental import dlpack

_MODULES = {"numpy": "tidemark.experimental.numpy"}
_LAZY = {
    "BoundedTensorSpec": "tidemark._tensor.specs",
    "Optional": "tidemark._tensor.optional",
    "RowPartition": "tidemark.ragged._row_partition",
}


def set_dtype_promotion(on):
    """Whether a program may call ops on tensors of several dtypes, which are promoted to one as
    NumPy does; off they raise what TensorFlow raises. On unless switched off. Returns what held
    before."""
    return _tidemark.set_dtype_promotion(bool(on))


def __getattr__(name):
    if name in _MODULES:
        return _importlib.import_module(_MODULES[name])
    if name in _LAZY:
        return getattr(_importlib.import_module(_LAZY[name]), name)
    if not name.startswith("_"):
        unsupported = _importlib.import_module("tidemark._tensorflow.unsupported")
        module = unsupported.module_of(f"tf.experimental.{name}")
        if module is not None:
            return module
    raise AttributeError(f"module 'tidemark.experimental' has no attribute {name!r}")


def __dir__():
    own = [name for name in globals() if not name.startswith("_")]
    return sorted({*own, *_MODULES, *_LAZY, "dtensor"})
