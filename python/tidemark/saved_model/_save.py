"""``tf.saved_model.save``: an object, the functions among its attributes and their variables."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping

from tidemark import _tidemark
from tidemark._functions.function import Function
from tidemark._trackable.module import Module
from tidemark._trackable.tracking import Trackable
from tidemark.saved_model import _functions
from tidemark.saved_model._functions import is_function
from tidemark.saved_model._own_file import OwnFile
from tidemark.saved_model._parts import Parts, attributes

DEFAULT_KEY = "serving_default"


def _default_signature(obj):
    """The one that Keras's models have. They make it when they are asked, and cannot for models
    that are called with several arguments: as in TensorFlow that is no default, and no error."""
    try:
        return getattr(obj, "_default_save_signature", None)
    except Exception:
        return None


def _signature_functions(obj, signatures):
    """name → the function, as the caller gave them in one of the allowed ways."""
    if signatures is None:
        default = _default_signature(obj)
        if is_function(default) and default.input_signature:
            return {DEFAULT_KEY: default}
        found = [
            f
            for f in (*attributes(obj).values(),)
            if isinstance(f, Function) and f.input_signature is not None
        ]
        call = attributes(obj).get("__call__")
        chosen = [f for f in found if f is call] or found
        return {DEFAULT_KEY: chosen[0]} if len(chosen) == 1 and _gives_tensors(chosen[0]) else {}
    if is_function(signatures):
        return {DEFAULT_KEY: signatures}
    if isinstance(signatures, Mapping):
        for name, function in signatures.items():
            if not is_function(function):
                raise ValueError(
                    f"Expected a TensorFlow function for which to generate a signature, but got "
                    f"{function!r} for '{name}'."
                )
        return dict(signatures)
    raise ValueError(
        f"signatures must be a tf.function, a ConcreteFunction or a dictionary of them; got "
        f"{signatures!r}"
    )


def _gives_tensors(function):
    """Whether a function that nobody named as a signature can be one."""
    traces = _functions.traces_of(function)
    return bool(traces and traces[0].graph.outputs)


def _trace_for_signature(function, key):
    if isinstance(function, Function) and function.input_signature is None:
        traces = function._traces
        if len(traces) != 1:
            raise ValueError(
                f"signature '{key}': {function._name} has no input_signature and "
                f"{len(traces)} traces. Give get_concrete_function(...) of one signature"
            )
    traces = _functions.traces_of(function)
    if not traces:
        raise ValueError(f"signature '{key}': the function was never traced")
    return traces[0]


def _collected(obj, signatures, options):
    parts = Parts()
    parts.number_of(obj)
    given = getattr(options, "function_aliases", None) or {}
    aliases = {alias: parts.number_of(function) for alias, function in given.items()}
    for key, function in _signature_functions(obj, signatures).items():
        parts.add_signature(key, function, _trace_for_signature(function, key))
    return parts, aliases


def save(obj, export_dir, signatures=None, options=None):
    """Writes an object's functions and variables into a folder, as TensorFlow's SavedModel.

    What has no form there, such as an op that TensorFlow does not have, is named in a warning, and
    the model becomes a file of Tidemark's own instead. ``load`` and C++ read both.
    """
    if _tidemark.is_tracing():
        raise AssertionError("tf.saved_model.save is not supported inside a traced function")
    if not isinstance(obj, (Module, Trackable)):
        raise ValueError(
            f"Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the "
            f"`Trackable` class, for export. Got {obj} with type {type(obj)}."
        )
    from tidemark.saved_model._writing.model import TensorFlowModel  # on first use
    from tidemark.saved_model._writing.structures import NoFormError

    folder = os.fspath(export_dir)
    parts, aliases = _collected(obj, signatures, options)
    own = OwnFile(parts, aliases)  # refuses what needs Python to run
    try:
        model = TensorFlowModel(parts, aliases)
    except NoFormError as error:
        warnings.warn(
            f"{folder} is written as a file of Tidemark's own, which TensorFlow does not read: "
            f"{error}",
            stacklevel=2,
        )
        own.write(folder)
        return
    model.write(folder)
