"""Models that TensorFlow saved: its graph of objects, made of objects of ours.

``_tidemark.ForeignModel`` reads the files; here its functions get arguments as Python has them.
"""

from __future__ import annotations

import collections
import inspect

from tidemark import _tidemark
from tidemark._functions.arguments import Call
from tidemark._functions.concrete import Trace
from tidemark._graph.tracing import Structure
from tidemark._tensor.specs import TensorSpec
from tidemark._tensor.variable import Variable
from tidemark._trackable.tracking import AutoTrackable
from tidemark.dtypes import as_dtype
from tidemark.errors import UnimplementedError
from tidemark.saved_model import _functions
from tidemark.saved_model._asset import Asset
from tidemark.saved_model._structure import encode
from tidemark.tensor_shape import TensorShape

_MOST_ITEMS = 1 << 20  # of a list with gaps
_PARTS_OF_TABLES = ("_create_resource", "_initialize", "_destroy_resource", "_initializer")


def _decoded(value):
    """What a ``StructuredValue`` stands for."""
    kind, held = value[0], value[1]
    if kind == "value":
        return held
    if kind == "shape":
        return TensorShape(held)
    if kind == "dtype":
        return as_dtype(held)
    if kind == "spec":
        return TensorSpec(held, as_dtype(value[2]), value[3] or None)
    if kind in ("list", "tuple"):
        items = [_decoded(item) for item in held]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {name: _decoded(item) for name, item in held}
    if kind == "named_tuple":
        names = [name for name, _ in held]
        made = collections.namedtuple(value[2], names, rename=True)
        return made(*(_decoded(item) for _, item in held))
    raise UnimplementedError(
        None, None, f"a function of the saved model takes or gives a {held or 'composite value'}, "
        "which is not read"
    )  # fmt: skip


def _result_structure(result):
    """The Structure of a function's results: a tensor where there is a spec."""
    parts = []

    def emptied(value):
        if isinstance(value, TensorSpec):
            parts.append((None, None, 1))
            return None
        if isinstance(value, dict):
            return {name: emptied(value[name]) for name in sorted(value)}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(emptied, value))
        if isinstance(value, (list, tuple)):
            return type(value)(map(emptied, value))
        parts.append((None, value, 0))
        return None

    return Structure(emptied(result), parts)


def _parameters(data):
    """The Signature of a Python function by its FullArgSpec; None where the file has none."""
    spec = _decoded(data["parameters"])
    if not hasattr(spec, "_fields"):
        return None
    names = list(spec.args or ())
    if data["is_method"] and names[:1] == ["self"]:
        names = names[1:]
    missing, kinds = {"none": None}, inspect.Parameter
    defaults = list(spec.defaults or ())[-len(names) :] if names else []
    shown = [missing] * (len(names) - len(defaults)) + [{"is": encode(v)} for v in defaults]
    out = [
        [name, int(kinds.POSITIONAL_OR_KEYWORD), default]
        for name, default in zip(names, shown, strict=True)
    ]
    if spec.varargs:
        out.append([spec.varargs, int(kinds.VAR_POSITIONAL), missing])
    given = spec.kwonlydefaults or {}
    for name in spec.kwonlyargs or ():
        default = {"is": encode(given[name])} if name in given else missing
        out.append([name, int(kinds.KEYWORD_ONLY), default])
    if spec.varkw:
        out.append([spec.varkw, int(kinds.VAR_KEYWORD), missing])
    return _functions.decode_parameters(out)


class _Function(_functions.RestoredFunction):
    """A tf.function of the model. What cannot be read of it is said when it is called."""

    def __init__(self, name, traces, signature, failures):
        super().__init__(name, traces, signature)
        self._failures = failures

    def __call__(self, *args, **kwargs):
        if self._failures and not self._traces:
            raise self._failures[0]
        return super().__call__(*args, **kwargs)


class Loader:
    """Makes the objects of a model, each once."""

    def __init__(self, folder, tags, user_object, restored_table, signatures):
        self._model = _tidemark.ForeignModel(folder, list(tags or ()))
        self._user_object, self._restored_table = user_object, restored_table
        self._signatures = signatures
        self._objects = self._model.objects
        self._structures = self._model.functions
        self._made, self._traces = {}, {}
        self._variables = {}

    def root(self):
        if not self._objects:
            return self._root_of_graph()
        values = self._model.variable_values()
        for number, data in enumerate(self._objects):
            if data["kind"] == "variable" and number in values:
                made = Variable(values.pop(number), trainable=data["trainable"],
                                name=data["text"].decode() or None,
                                shape=TensorShape(data["shape"]))  # fmt: skip
                self._variables[number] = made
                self._model.bind(number, made)
        self._model.start()
        root = self.make(0)
        found = root.__dict__.pop("signatures", None)
        tables = [info[3] for info in map(self._model.table, range(len(self._objects))) if info]
        signatures = self._signatures()
        for name, function in (found or {}).items():
            signatures[name] = function
            function._kept = (list(self._variables.values()), tables)
        self._finish(root, signatures, tables)
        return root

    def _root_of_graph(self):
        """A model of TensorFlow 1: signatures over one graph."""
        self._model.check_signatures()
        signatures = self._signatures()
        for name, inputs, outputs in self._model.signatures:
            signatures[name] = _functions.SignatureFunction(
                name, self._model.signature(name), inputs, outputs
            )
        self._model.restore()
        root, tables = self._user_object(), self._model.tables
        for function in signatures.values():
            function._kept = ((), tables)
        self._finish(root, signatures, tables)
        return root

    def _finish(self, root, signatures, tables):
        root.__dict__.update(
            signatures=signatures, graph_debug_info=None, tensorflow_version=self._model.version,
            _kept_variables=list(self._variables.values()), _kept_tables=tables,
        )  # fmt: skip

    def make(self, number):
        """The object of this number."""
        if number in self._made:
            return self._made[number]
        data = self._objects[number]
        kind, children = data["kind"], data["children"]
        identifier = data["text"].decode(errors="replace")
        if kind != "object":
            made = self._made[number] = self._leaf(number, kind, data)
            return made
        if identifier == "signature_map":
            made = {name: self._signature(child) for name, child in children}
            self._made[number] = made
            return made
        if identifier in ("trackable_list_wrapper", "trackable_tuple_wrapper"):
            made = self._made[number] = []
            for at, child in sorted((int(name), c) for name, c in children if name.isdigit()):
                made.extend([None] * (min(at, _MOST_ITEMS) - len(made)))
                made.append(self.make(child))
            if identifier == "trackable_tuple_wrapper":
                made = self._made[number] = tuple(made)
            return made
        if identifier == "trackable_dict_wrapper":
            made = self._made[number] = {}
            made.update((name, self.make(child)) for name, child in children)
            return made
        made = self._made[number] = self._user_object()
        for name, child in children:
            value = self.make(child)
            if name in ("__call__", "signatures"):
                made.__dict__[name] = value
            else:
                setattr(made, name, value)
        return made

    def _leaf(self, number, kind, data):
        if kind == "variable":
            return self._variables.get(number)
        if kind == "constant":
            return self._model.constant(number)
        if kind == "asset":
            return Asset(self._model.constant(number))
        if kind == "function":
            return self._function(data)
        if kind == "concrete":
            return _functions.concrete(self._trace(data["functions"][0]), _parameters(data))
        info = self._model.table(number) if kind == "resource" else None
        if info is not None:
            default = dict(data["children"]).get("_default_value")
            return self._restored_table(info, None if default is None else self.make(default))
        made = AutoTrackable()
        for name, child in data["children"]:
            if name not in _PARTS_OF_TABLES:
                setattr(made, name, self.make(child))
        return made

    def _trace(self, name):
        if name not in self._traces:
            arguments, results = self._structures[name]
            call = Call(_decoded(arguments))
            structure = _result_structure(_decoded(results))
            graph = self._model.function(name)
            self._traces[name] = Trace(name, graph, call, call.leaves, structure,
                                       reason="it was saved")  # fmt: skip
        return self._traces[name]

    def _function(self, data):
        traces, failures = [], []
        for name in data["functions"]:
            try:
                traces.append(self._trace(name))
            except UnimplementedError as error:
                failures.append(error)
        names = data["functions"] or ["function"]
        shown = names[0].removeprefix("__inference_").rpartition("_")[0] or names[0]
        return _Function(shown, traces, _parameters(data), failures)

    def _signature(self, number):
        """A function that is called by names and gives a dictionary."""
        data = self._objects[number]
        if data["kind"] != "concrete":
            return self.make(number)
        name = data["functions"][0]
        _, results = self._structures[name]
        inputs = self._input_names(name, data["keywords"])
        outputs = sorted(_decoded(results))
        return _functions.SignatureFunction(name, self._model.function(name), inputs, outputs)

    def aliases(self):
        """The functions that were given further names when they were saved."""
        names = self._model.aliases
        found = {}
        for number, data in enumerate(self._objects):
            for name in data["functions"]:
                if name in names and data["kind"] == "function":
                    found[names[name]] = self.make(number)
        return found

    def _input_names(self, name, keywords):
        """The inputs' names in the order of the graph: that of the flattened arguments."""
        _, given = _decoded(self._structures[name][0])
        return sorted(given) if given else list(keywords)


__all__ = ["Loader"]
