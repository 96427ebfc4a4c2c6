"""What of an object is saved: its parts, each with a number, whatever file they go into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tidemark import _tidemark
from tidemark._functions.concrete import ConcreteFunction
from tidemark._functions.function import Function
from tidemark._trackable.module import Module
from tidemark._trackable.tracking import Trackable
from tidemark.lookup._tables import _Table
from tidemark.saved_model import _functions
from tidemark.saved_model._asset import Asset
from tidemark.saved_model._functions import is_function

_UNSAVED = {"_name_scope", "_self_unconditional_checkpoint_dependencies"}


class SavedSignature(NamedTuple):
    """A signature: its function's trace, and names for what that takes and gives."""

    key: str
    trace: Any
    inputs: list
    outputs: list


def _variable_of(value):
    """The tf.Variable that a value is or, as Keras's variables do, holds; None."""
    if isinstance(value, _tidemark.VariableBase):
        return value
    if hasattr(value, "_value") and hasattr(value, "_initializer"):
        inner = value._value
        return inner if isinstance(inner, _tidemark.VariableBase) else None
    return None


def _methods(value):
    """The tf.functions among the methods of an object's class, bound to it."""
    found = {}
    for cls in type(value).__mro__:
        for name, attribute in vars(cls).items():
            if isinstance(attribute, Function) and name not in found:
                found[name] = getattr(value, name)
    return found


def attributes(value):
    """What of an object is saved, by name."""
    found = {
        name: part
        for name, part in vars(value).items()
        if name not in _UNSAVED and isinstance(name, str)
    }
    if isinstance(value, Trackable):
        for name, part in value._trackable_children().items():
            found.setdefault(name, part)
    return {**_methods(value), **found}


class Parts:
    """Walks over the objects once and gives each a number."""

    def __init__(self):
        self.objects = []  # of each what kind it is, and the numbers of its parts
        self.values = []  # of each the value itself
        self.signatures = []
        self._numbers = {}  # id → number

    def number_of(self, value):
        """The number of a value's object, made on the first call; None: it is not saved."""
        variable = _variable_of(value)
        value = value if variable is None else variable
        known = self._numbers.get(id(value))
        if known is not None:
            return known
        if variable is not None:
            return self._add(value, {"kind": "variable"})
        if is_function(value):
            return self._add_function(value)
        if isinstance(value, _tidemark.Tensor):
            return None if _tidemark.is_symbolic(value) else self._add(value, {"kind": "constant"})
        if isinstance(value, _Table):
            default = self.number_of(value._default_value)
            return self._add(value, {"kind": "table", "default": default})
        if isinstance(value, Asset):
            return self._add(value, {"kind": "asset"})
        if isinstance(value, (list, tuple)):
            return self._add_list(value)
        if isinstance(value, Mapping):
            return self._add_mapping(value)
        if isinstance(value, (Module, Trackable)):
            return self._add_object(value)
        return None

    def _add(self, value, data):
        self._numbers[id(value)] = len(self.objects)
        self.values.append(value)  # so that no id is used twice
        self.objects.append(data)
        return len(self.objects) - 1

    def _add_function(self, function):
        signature = function._signature
        return self._add(function, {
            "kind": "concrete" if isinstance(function, ConcreteFunction) else "function",
            "name": function.__name__,
            "parameters": None if signature is None else _functions.encode_parameters(signature),
            "traces": _functions.traces_of(function),
        })  # fmt: skip

    def _add_list(self, values):
        parts = [self.number_of(part) for part in values]
        if all(part is None for part in parts) and parts:
            return None
        kind = "tuple" if isinstance(values, tuple) else "list"
        return self._add(values, {"kind": kind, "parts": parts})

    def _add_mapping(self, values):
        parts = {name: self.number_of(v) for name, v in values.items() if isinstance(name, str)}
        parts = {name: number for name, number in parts.items() if number is not None}
        if not parts and values:
            return None
        return self._add(values, {"kind": "dict", "parts": parts})

    def _add_object(self, value):
        number = self._add(value, {"kind": "object", "parts": {}})
        parts = self.objects[number]["parts"]
        for name, part in attributes(value).items():
            found = self.number_of(part)
            if found is not None:
                parts[name] = found
        return number

    def add_signature(self, key, function, trace):
        """A signature of this name, which is one trace of a function."""
        parameters = getattr(function, "_signature", None)
        names = getattr(function, "_names", None) or _functions.input_names(trace, parameters)
        outputs = getattr(function, "_outputs", None) or _functions.output_names(trace)
        self.signatures.append(SavedSignature(key, trace, list(names), list(outputs)))

    def traces(self):
        """All traces that are saved, those of signatures last."""
        found = [trace for data in self.objects for trace in data.get("traces", ())]
        return found + [signature.trace for signature in self.signatures]


__all__ = ["Parts", "SavedSignature", "attributes"]
