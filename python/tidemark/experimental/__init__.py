"""``tf.experimental``: what TensorFlow keeps there."""

import contextlib as _contextlib
import importlib as _importlib

from tidemark import _tidemark
from tidemark._export import refusing as _refusing
from tidemark.experimental import dlpack

_MODULES = {
    "extension_type": "tidemark.experimental.extension_type",
    "numpy": "tidemark.experimental.numpy",
}
_DISPATCH = "tidemark.experimental._dispatch"
_EXTENSION = "tidemark.experimental.extension_type."
_LAZY = {
    "BatchableExtensionType": _EXTENSION + "_batches",
    "BoundedTensorSpec": "tidemark._tensor.specs",
    "ExtensionType": _EXTENSION + "_types",
    "ExtensionTypeBatchEncoder": _EXTENSION + "_batches",
    "ExtensionTypeSpec": _EXTENSION + "_specs",
    "Optional": "tidemark._tensor.optional",
    "RowPartition": "tidemark.ragged._row_partition",
    "dispatch_for_api": _DISPATCH,
    "dispatch_for_binary_elementwise_apis": _DISPATCH,
    "dispatch_for_binary_elementwise_assert_apis": _DISPATCH,
    "dispatch_for_unary_elementwise_apis": _DISPATCH,
    "unregister_dispatch_for": _DISPATCH,
}


def set_dtype_promotion(on):
    """Whether a program may call ops on tensors of several dtypes, which are promoted to one as
    NumPy does; off they raise what TensorFlow raises. On unless switched off. Returns what held
    before."""
    return _tidemark.set_dtype_promotion(bool(on))


def async_scope():
    """A context in which ops may run later than they are called: here they have run then."""
    return _contextlib.nullcontext()


def async_clear_error():
    """Forgets errors of ops that ran later than they were called: there are none."""


def function_executor_type(executor_type):
    """A context that names an executor of functions; there is one."""
    return _contextlib.nullcontext()


def __getattr__(name):
    if name in _MODULES:
        return _importlib.import_module(_MODULES[name])
    if name in _LAZY:
        return getattr(_importlib.import_module(_LAZY[name]), name)
    return _refusing("tf.experimental")(name)


def __dir__():
    own = [name for name in globals() if not name.startswith("_")]
    return sorted({*own, *_MODULES, *_LAZY, "dtensor"})
