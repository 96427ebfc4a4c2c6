"""Tidemark in TensorFlow's place: ``import tensorflow`` finds it.

    import tidemark
    tidemark.install_as_tensorflow()
    import keras                        # with KERAS_BACKEND=tensorflow

``tensorflow`` and its submodules become other names of ``tidemark`` and its own. The modules below
``tensorflow.python`` and ``tensorflow.core`` that libraries import are in ``inner/``.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types

from tidemark import _tidemark
from tidemark._tensorflow import keras_guards

_INNER = ("python", "core", "compiler", "tools")  # below tensorflow: none of its public modules


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

    def find_distributions(self, context):
        from tidemark._tensorflow import distribution  # few programs ask

        return distribution.distributions(context)


class _Alias(types.ModuleType):
    """Holds the place of a module while it is being imported under another name."""

    def __init__(self, of):
        super().__init__(of.__name__)
        self._of = of


def _module(name):
    """The module that answers for ``tensorflow.<name>``, or None."""
    if not name:
        return importlib.import_module("tidemark")
    if name.partition(".")[0] in _INNER:
        from tidemark._tensorflow import inner  # only some packages need it

        return inner.find(name)
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
