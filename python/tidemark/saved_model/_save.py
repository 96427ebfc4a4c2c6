"""``tf.saved_model.save``: an object, the functions among its attributes and their variables."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from tidemark import _tidemark
from tidemark._functions.concrete import ConcreteFunction
from tidemark._functions.function import Function
from tidemark._trackable.module import Module
from tidemark._trackable.tracking import Trackable
from tidemark.lookup._tables import _Table
from tidemark.saved_model import _functions
from tidemark.saved_model._functions import is_function

DEFAULT_KEY = "serving_default"
_UNSAVED = {"_name_scope", "_self_unconditional_checkpoint_dependencies"}


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


def _attributes(value):
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


class _Saver:
    """Walks over the objects once and gives each a number."""

    def __init__(self):
        self.writer = _tidemark.ModelWriter()
        self.objects = []  # what JSON holds of each
        self._numbers = {}  # id → number
        self._held = []  # so that no id is used twice
        self._graphs = {}  # id of a graph → number of its function

    def number_of(self, value):
        """The number of a value's object, made on the first call; None: it is not saved."""
        variable = _variable_of(value)
        value = value if variable is None else variable
        known = self._numbers.get(id(value))
        if known is not None:
            return known
        if variable is not None:
            number = int(self.writer.add_variable(variable))
            return self._add(value, {"kind": "variable", "number": number})
        if is_function(value):
            return self._add_function(value)
        if isinstance(value, _tidemark.Tensor):
            if _tidemark.is_symbolic(value):
                return None
            number = int(self.writer.add_constant(value))
            return self._add(value, {"kind": "constant", "number": number})
        if isinstance(value, _Table):
            return self._add_table(value)
        if isinstance(value, (list, tuple)):
            return self._add_list(value)
        if isinstance(value, Mapping):
            return self._add_mapping(value)
        if isinstance(value, (Module, Trackable)):
            return self._add_object(value)
        return None

    def _add(self, value, data):
        self._numbers[id(value)] = len(self.objects)
        self._held.append(value)
        self.objects.append(data)
        return len(self.objects) - 1

    def _add_function(self, function):
        traces = _functions.traces_of(function)
        data = {"kind": "function", "name": function.__name__, "traces": []}
        if isinstance(function, ConcreteFunction):
            data["kind"] = "concrete"
        signature = function._signature
        data["parameters"] = None if signature is None else _functions.encode_parameters(signature)
        for trace in traces:
            data["traces"].append([self.graph_number(trace), _functions.encode_trace(trace)])
        return self._add(function, data)

    def graph_number(self, trace):
        """The number of the saved function that a trace's graph is."""
        known = self._graphs.get(id(trace.graph))
        if known is None:
            known = int(self.writer.add_function(trace.name, trace.graph))
            self._graphs[id(trace.graph)] = known
            self._held.append(trace.graph)
        return known

    def _add_table(self, table):
        number = int(self.writer.add_table(table._table.number))
        default = self.number_of(table._default_value)
        return self._add(table, {"kind": "table", "number": number, "default": default})

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
        for name, part in _attributes(value).items():
            found = self.number_of(part)
            if found is not None:
                parts[name] = found
        return number


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
            for f in (*_attributes(obj).values(),)
            if isinstance(f, Function) and f.input_signature is not None
        ]
        call = _attributes(obj).get("__call__")
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


def save(obj, export_dir, signatures=None, options=None):
    """Writes an object's functions and variables into a folder; ``load`` and C++ read them."""
    if _tidemark.is_tracing():
        raise AssertionError("tf.saved_model.save is not supported inside a traced function")
    if not isinstance(obj, (Module, Trackable)):
        raise ValueError(
            f"Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the "
            f"`Trackable` class, for export. Got {obj} with type {type(obj)}."
        )
    saver = _Saver()
    root = saver.objects[saver.number_of(obj)]
    aliases = getattr(options, "function_aliases", None) or {}
    root["aliases"] = {alias: saver.number_of(function) for alias, function in aliases.items()}
    for key, function in _signature_functions(obj, signatures).items():
        trace = _trace_for_signature(function, key)
        parameters = getattr(function, "_signature", None)
        names = getattr(function, "_names", None) or _functions.input_names(trace, parameters)
        outputs = getattr(function, "_outputs", None) or _functions.output_names(trace)
        saver.writer.add_signature(key, saver.graph_number(trace), names, outputs)
    saver.writer.set_objects(json.dumps(saver.objects).encode())
    saver.writer.write(os.fspath(export_dir))
