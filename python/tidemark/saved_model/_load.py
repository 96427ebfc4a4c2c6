"""``tf.saved_model.load``: the object again, as far as files can hold it."""

from __future__ import annotations

import json
import os

from tidemark import _tidemark, memory
from tidemark._tensor.variable import Variable
from tidemark._trackable.tracking import AutoTrackable
from tidemark.dtypes import as_dtype
from tidemark.errors import DataLossError
from tidemark.lookup._tables import StaticHashTable
from tidemark.saved_model import _functions
from tidemark.tensor_shape import TensorShape

_FILE, _TENSORFLOWS_FILE = "saved_model.tidemark", "saved_model.pb"


class _UserObject(AutoTrackable):
    """Stands for the object that was saved: it has its parts, not its class."""

    def __call__(self, *args, **kwargs):
        call = self.__dict__.get("__call__")
        if call is None:
            raise TypeError("the saved object had no traced __call__")
        return call(*args, **kwargs)


class _Signatures(dict):
    """The signatures by name; the mapping itself does not change."""

    def __repr__(self):
        return f"_SignatureMap({dict.__repr__(self)})"


def _restored_table(info, default):
    """A table over one that the runtime has filled already."""
    key, value, shape, filled = info
    table = StaticHashTable.__new__(StaticHashTable)
    table._key_dtype, table._value_dtype = map(_dtype, (key, value))
    table._value_shape = TensorShape(shape)
    table._default_value, table._name = default, "restored_table"
    table._table, table._initializer = filled, None
    table._attrs = {"table": filled.number}
    return table


def _dtype(name):
    return as_dtype(name)


class _Loader:
    """Makes the objects of a file, each once."""

    def __init__(self, folder):
        self._reader = _tidemark.ModelReader(folder)
        self._variables = [
            Variable(value, trainable=trainable, name=name, shape=TensorShape(shape))
            for name, shape, trainable, value in self._reader.variables
        ]
        self._tables = list(self._reader.tables)
        self._reader.bind(self._variables, [table[3] for table in self._tables])
        try:
            self._objects = json.loads(self._reader.objects or b"[]")
        except ValueError as error:
            raise DataLossError(None, None, f"{folder}: the objects are damaged: {error}") from None
        self._made, self._graphs = {}, {}

    def graph(self, number):
        if number not in self._graphs:
            self._graphs[number] = self._reader.function(number)
        return self._graphs[number]

    def aliases(self):
        """The functions that were given further names when they were saved."""
        named = self._objects[0].get("aliases", {}) if self._objects else {}
        return {alias: self.make(number) for alias, number in named.items()}

    def root(self):
        root = self.make(0) if self._objects else _UserObject()
        signatures = _Signatures()
        for name, number, inputs, outputs in self._reader.signatures:
            signatures[name] = _functions.SignatureFunction(
                f"signature_wrapper_{name}", self.graph(number), inputs, outputs
            )
            signatures[name]._kept = (self._variables, [table[3] for table in self._tables])
        untracked = {
            "signatures": signatures,
            "graph_debug_info": None,
            "tensorflow_version": "tidemark",
            "_kept_variables": self._variables,
            "_kept_tables": [table[3] for table in self._tables],
        }
        root.__dict__.update(untracked)
        return root

    def make(self, number):
        """The object of this number."""
        if number in self._made:
            return self._made[number]
        data = self._objects[number]
        kind = data["kind"]
        if kind == "object":
            made = self._made[number] = _UserObject()
            for name, part in data["parts"].items():
                _set(made, name, self.make(part))
            return made
        made = self._made[number] = self._leaf(kind, data)
        return made

    def _leaf(self, kind, data):
        if kind == "variable":
            return self._variables[data["number"]]
        if kind == "constant":
            return self._reader.constant(data["number"])
        if kind == "table":
            return _restored_table(self._tables[data["number"]], self.make(data["default"]))
        if kind in ("function", "concrete"):
            return self._function(kind, data)
        if kind in ("list", "tuple"):
            parts = [None if part is None else self.make(part) for part in data["parts"]]
            return parts if kind == "list" else tuple(parts)
        if kind == "dict":
            return {name: self.make(part) for name, part in data["parts"].items()}
        raise DataLossError(None, None, f"the saved model has an object of the kind {kind!r}")

    def _function(self, kind, data):
        name, parameters = data["name"], data["parameters"]
        signature = None if parameters is None else _functions.decode_parameters(parameters)
        traces = [
            _functions.decode_trace(name, self.graph(graph), trace)
            for graph, trace in data["traces"]
        ]
        if kind == "concrete":
            return _functions.concrete(traces[0], signature)
        return _functions.RestoredFunction(name, traces, signature)


def _set(made, name, value):
    if name == "__call__":
        made.__dict__[name] = value
    else:
        setattr(made, name, value)


def _with_aliases(root, loader, options):
    if getattr(options, "experimental_load_function_aliases", False):
        root.__dict__["function_aliases"] = loader.aliases()
    return root


def contains_saved_model(export_dir):
    """Whether the folder holds a model that ``load`` reads."""
    folder = os.fspath(export_dir)
    return any(os.path.isfile(os.path.join(folder, name)) for name in (_FILE, _TENSORFLOWS_FILE))


def load(export_dir, tags=None, options=None):
    """The object that was saved into the folder: its functions, variables and signatures."""
    folder = os.fspath(export_dir)
    if not contains_saved_model(folder):
        raise OSError(
            f"SavedModel file does not exist at: {folder}/{{{_TENSORFLOWS_FILE}|{_FILE}}}"
        )
    memory.mark(f"model loaded: {folder}")
    if not os.path.isfile(os.path.join(folder, _FILE)):
        from tidemark.saved_model._tensorflow import Loader  # on first use

        given = [tags] if isinstance(tags, str) else tags
        loader = Loader(folder, given, _UserObject, _restored_table, _Signatures)
        return _with_aliases(loader.root(), loader, options)
    try:
        loader = _Loader(folder)
        return _with_aliases(loader.root(), loader, options)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise DataLossError(
            None, None, f"{folder}: what the saved model says of its objects is damaged: {error}"
        ) from error


__all__ = ["contains_saved_model", "load"]
