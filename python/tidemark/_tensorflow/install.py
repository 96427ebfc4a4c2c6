"""Tidemark in TensorFlow's place: ``import tensorflow`` finds it.

    import tidemark
    tidemark.install_as_tensorflow()
    import keras                        # with KERAS_BACKEND=tensorflow

``tensorflow`` and its submodules become other names of ``tidemark`` and its own. The few modules
under ``tensorflow.python`` that libraries import are made here from public things.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types

import tidemark
from tidemark import _tidemark, math
from tidemark._tensor import specs
from tidemark._tensor.creation import get_static_value, is_tensor
from tidemark._tensorflow import keras_guards

_ROOTS = ("tensorflow", "tensorflow_core")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``tensorflow.…`` as ``tidemark.…``."""

    def find_spec(self, fullname, path=None, target=None):
        root, _, rest = fullname.partition(".")
        if root != "tensorflow" or _module(rest) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return _Alias(_module(spec.name.partition(".")[2]))

    def exec_module(self, module):
        # The import system has put the alias there; the module itself is what is imported.
        sys.modules[module.__spec__.name] = module._of


class _Alias(types.ModuleType):
    """Holds the place of a module while it is being imported under another name."""

    def __init__(self, of):
        super().__init__(of.__name__)
        self._of = of


def _module(name):
    """The module that answers for ``tensorflow.<name>``, or None."""
    if not name:
        return importlib.import_module("tidemark")
    if name in _EXTRA:
        return _extra(name)
    if any(extra.startswith(name + ".") for extra in _EXTRA):
        return _package(name)
    found = importlib.import_module("tidemark")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, types.ModuleType) else None


def install_as_tensorflow():
    """Makes ``import tensorflow`` give this package, for the rest of the process."""
    there = sys.modules.get("tensorflow")
    own = sys.modules["tidemark"]
    if there is own:
        return
    if there is not None:
        raise RuntimeError(
            "TensorFlow itself is loaded already, so Tidemark cannot take its place in this "
            f"process (it came from {getattr(there, '__file__', '?')}). Call "
            "tidemark.install_as_tensorflow() before anything imports tensorflow."
        )
    sys.meta_path[:0] = [_Finder(), keras_guards.Finder()]
    sys.modules["tensorflow"] = own
    _keep_out_of_reports("keras")
    _take_module_names()


def _keep_out_of_reports(package):
    """A tensor made inside the package was made by the line of the program that called it."""
    spec = importlib.util.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        _tidemark.add_internal_path(folder)


# Where TensorFlow defines what libraries recognise by the name of its module alone.
_DEFINED_IN = {
    "python.framework.tensor": ("Tensor",),
    "python.framework.sparse_tensor": ("SparseTensor",),
    "python.ops.ragged.ragged_tensor": ("RaggedTensor",),
    "python.data.ops.dataset_ops": ("data.Dataset",),
}


def _take_module_names():
    for module, names in _DEFINED_IN.items():
        for cls in _found(names):
            cls.__module__ = f"tensorflow.{module}"


def _found(names):
    tidemark = sys.modules["tidemark"]
    return [functools.reduce(getattr, name.split("."), tidemark) for name in names]


def _defining(module):
    return lambda: {cls.__name__: cls for cls in _found(_DEFINED_IN[module])}


# --- modules that exist under TensorFlow's inner names alone -------------------------------------


def _xla():
    from tidemark._tensorflow.xla import dynamic_update_slice  # loaded on first use

    return {"dynamic_update_slice": dynamic_update_slice}


def _context():
    return {
        "_reset_context": _reset_devices,
        "async_wait": _nothing,
        "context": _EagerContext,
        "executing_eagerly": _eagerly,
    }


def _reset_devices():
    from tidemark.config import _devices  # loaded on first use

    _devices.reset()


def _nothing():
    """Ops are done when they return; there is nothing to wait for."""


def _eagerly():
    return tidemark.executing_eagerly()


class _EagerContext:
    """What ``context.context()`` gives."""

    def clear_kernel_cache(self):
        """Kernels are not cached by call here."""

    def executing_eagerly(self):
        return _eagerly()


def _config():
    from tidemark.config import experimental  # loaded on first use

    return {"is_op_determinism_enabled": experimental.is_op_determinism_enabled}


def _data_structures():
    from tidemark._trackable import tracking  # loaded on first use

    return {"ListWrapper": tracking.ListWrapper, "_DictWrapper": tracking._DictWrapper}


def _sparse_csr():
    from tidemark.sparse import _products  # loaded on first use

    return {
        name: getattr(_products, name)
        for name in (
            "csr_sparse_matrix_to_sparse_tensor",
            "sparse_matrix_sparse_mat_mul",
            "sparse_tensor_to_csr_sparse_matrix",
        )
    }


def _math_ops():
    return {"is_nan": math.is_nan}


def _type_spec_registry():
    return {"lookup": specs.lookup, "get_name": specs.registered_name}


def _tensor_util():
    return {"constant_value": get_static_value, "is_tf_type": is_tensor}


def _data_distribute():
    from tidemark.data._dataset import compute_batch_size  # only datasets need it

    return {"compute_batch_size": compute_batch_size}


_EXTRA = {
    "compiler.tf2xla.python.xla": _xla,
    "python.data.experimental.ops.distribute": _data_distribute,
    "python.eager.context": _context,
    "python.framework.config": _config,
    "python.framework.tensor_util": _tensor_util,
    "python.framework.type_spec_registry": _type_spec_registry,
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": _sparse_csr,
    "python.ops.math_ops": _math_ops,
    "python.trackable.data_structures": _data_structures,
}

_EXTRA.update((module, _defining(module)) for module in _DEFINED_IN)


def _extra(name):
    module = types.ModuleType(f"tensorflow.{name}")
    module.__dict__.update(_EXTRA[name]())
    return module


def _package(name):
    module = types.ModuleType(f"tensorflow.{name}")
    module.__path__ = []
    return module
