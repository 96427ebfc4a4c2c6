"""``tensorflow.python.util.tf_export``: public names as marks on functions and classes."""

from __future__ import annotations

import functools
import sys

from tidemark.__internal__.decorator import unwrap
from tidemark._export import OPS

_named = {}  # public name → the thing that a library gave it


class api_export:
    """Notes the public names of what it decorates."""

    def __init__(self, *names, api_name="tensorflow", v1=None, allow_multiple_exports=True):
        self._names, self._names_v1, self._api = names, names if v1 is None else v1, api_name

    def __call__(self, thing):
        mark = "keras" if self._api == "keras" else "tf"
        setattr(thing, f"_{mark}_api_names", self._names)
        setattr(thing, f"_{mark}_api_names_v1", self._names_v1)
        for name in (*self._names, *self._names_v1):
            _named.setdefault(name, thing)
        return thing

    def export_constant(self, module_name, name):
        """Constants carry no marks."""


tf_export = functools.partial(api_export, api_name="tensorflow")
keras_export = functools.partial(api_export, api_name="keras")


def get_canonical_name_for_symbol(symbol, api_name="tensorflow", add_prefix_to_v1_names=False):
    """The first public name that is not old; None if there is none."""
    marks = getattr(unwrap(symbol)[1], "__dict__", {})  # its own: a subclass has another name
    names = marks.get("_keras_api_names" if api_name == "keras" else "_tf_api_names", ())
    if not names and api_name == "tensorflow":
        own = getattr(symbol, "__tf_names__", None) or _names_of_ops().get(symbol, ())
        names = [name.removeprefix("tf.") for name in own]
    old = marks.get("_tf_deprecated_api_names", ())
    return next((name for name in names if name not in old), names[0] if names else None)


@functools.cache
def _names_of_ops():
    """The public names of the functions that are ops themselves."""
    found = {}
    for name, function in OPS.items():
        found.setdefault(function, []).append(name)
    return found


def get_symbol_from_name(name):
    """What a library exported under a public name, or what TensorFlow has there; None."""
    if name in _named or name.startswith("keras"):
        return _named.get(name)
    try:
        return functools.reduce(getattr, name.split("."), sys.modules["tidemark"])
    except AttributeError:
        return None


def make_all(module_name, doc_string_modules=None):
    """The public names of a module."""
    return [name for name in vars(sys.modules[module_name]) if not name.startswith("_")]


def remove_undocumented(module_name, allowed_exception_list=None, doc_string_modules=None):
    """Would take names out of a module; all stay."""
