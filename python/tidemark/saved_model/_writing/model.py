"""A model as a folder that TensorFlow reads: graphs, objects, variables."""

from __future__ import annotations

import os

from tidemark import _tidemark
from tidemark._functions.binding import Binding
from tidemark._proto.saved_model import SavedModel
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.variable import variable_with_id
from tidemark._trackable.checkpoint_files import OBJECTS_KEY, write_tensors
from tidemark._v1.graph_def import op_defs
from tidemark._v1.graph_def.exporting import PRODUCER
from tidemark._v1.graph_def.functions import resource_uses
from tidemark._v1.graph_def.special_ops import table_key
from tidemark._v1.graph_def.values import shape_message
from tidemark._v1.graph_def.writer import Library, Writer
from tidemark.saved_model import _functions
from tidemark.saved_model._structure import encode
from tidemark.saved_model._writing import structures
from tidemark.saved_model._writing.assets import AssetWriter
from tidemark.saved_model._writing.functions import call_of, write_function, write_signature
from tidemark.saved_model._writing.objects import ObjectGraph, checkpoint_records
from tidemark.saved_model._writing.restoring import add_init_op, add_saver
from tidemark.saved_model._writing.structures import NoFormError
from tidemark.saved_model._writing.tables import TableWriter

_PREDICT = "tensorflow/serving/predict"
_VERSION = "2.21.0"  # of TensorFlow, whose ops these are


class TensorFlowModel:
    """The messages of a model. Raises NoFormError for what TensorFlow has no form for."""

    def __init__(self, parts, aliases):
        self._message = SavedModel(saved_model_schema_version=1)
        self._meta = self._message.meta_graphs.add()
        self._meta.meta_info_def.tags.append("serve")
        self._meta.meta_info_def.tensorflow_version = _VERSION
        self._meta.graph_def.versions.producer = PRODUCER
        self._library = Library(self._meta.graph_def.library)
        self._library.keeps_ours = True
        self.writer = Writer(self._meta.graph_def, self._library)
        self.objects = ObjectGraph()
        self._variables = {}  # id → (number of the object, variable, handle)
        self._tables = TableWriter(self.writer, self.objects)
        self._assets = AssetWriter(self.writer, self.objects, self._meta)
        self._written = {}  # id of a trace → (its name in the file, the function)
        self._held = []  # traces that were written
        self._add_objects(parts)
        self._add_unreached(parts)
        self._add_functions(parts)
        self._add_signatures(parts)
        self._add_aliases(parts, aliases)
        variables = list(self._variables.values())
        add_saver(self.writer, self._meta.saver_def, variables, self._keys())
        add_init_op(self.writer, self._meta, [*self._assets.initialised, *self._tables.initialised])
        self._check()
        self._list_ops()
        self._meta.object_graph_def.CopyFrom(self.objects.message)

    # --- objects -----------------------------------------------------------------------------

    def _add_objects(self, parts):
        """Numbers are those of the parts; what is made beside them comes behind."""
        for data, value in zip(parts.objects, parts.values, strict=True):
            kind = data["kind"]
            if kind == "variable":
                self._add_variable(value)
            elif kind == "constant":
                self.objects.add_constant(self.writer.constant("Const", value))
            elif kind == "table":
                self._tables.declare(value)
            elif kind == "asset":
                self._assets.declare(value)
            elif "traces" in data:
                self.objects.add()  # filled when the functions are there
            else:
                self.objects.add_user_object(kind)
        self._library.assets = self._assets.keys
        for number, data in enumerate(parts.objects):
            for name, child in _parts_of(data):
                self.objects.add_part(number, name, child)
        self._signature_map = self.objects.add_user_object("signatures")
        self.objects.add_part(0, "signatures", self._signature_map)

    def _add_variable(self, variable):
        number = self.objects.add_variable(variable)
        name = variable.name.partition(":")[0]
        label = self.writer.fresh(name or "Variable")
        known = {"dtype": variable.dtype, "shape": _sizes(variable.shape), "shared_name": label}
        handle = self.writer.add(label, "VarHandleOp", (), known)
        self._variables[variable._id] = number, variable, handle
        return number

    def _add_unreached(self, parts):
        """Variables and tables that functions use and no object refers to become parts of one
        more object, so that checkpoints find them."""
        found = []
        for key in resource_uses(trace.graph.handle for trace in parts.traces()):
            if isinstance(key, tuple):
                if not self._tables.knows(key):
                    found.append(self._tables.declare_number(key[1]))
            elif key not in self._variables:
                variable = variable_with_id(key)
                if variable is None:
                    raise NoFormError("a variable that is gone")
                found.append(self._add_variable(variable))
        if not found:
            return
        holder = self.objects.add_user_object("list")
        self.objects.add_part(0, "_used_by_functions", holder)
        for at, number in enumerate(found):
            self.objects.add_part(holder, str(at), number)

    def _resource(self, key):
        """(number of the object, handle in the graph) of a variable or a table."""
        if key in self._assets.keys:
            return self._assets.resource(key)
        if isinstance(key, tuple):
            return self._tables.resource(key)
        number, _, handle = self._variables[key]
        return number, handle

    # --- functions ---------------------------------------------------------------------------

    def _add_functions(self, parts):
        changing = resource_changes(trace.graph.handle for trace in parts.traces())
        self._tables.write(changing)
        for number, (data, value) in enumerate(zip(parts.objects, parts.values, strict=True)):
            if "traces" not in data:
                continue
            names = [self._trace(trace, data["parameters"], value._signature).name
                     for trace in data["traces"]]  # fmt: skip
            made = self.objects.message.nodes[number]
            spec = structures.function_spec(data["parameters"] or [])
            if data["kind"] == "function":
                made.function.SetInParent()
                made.function.concrete_functions.extend(names)
                made.function.function_spec.CopyFrom(spec)
            else:
                trace = data["traces"][0]
                made.bare_concrete_function.concrete_function_name = names[0]
                keywords = _functions.input_names(trace, value._signature)
                made.bare_concrete_function.argument_keywords.extend(keywords)
                made.bare_concrete_function.allowed_positional_arguments = len(keywords)
                if data["parameters"] is not None:
                    made.bare_concrete_function.function_spec.CopyFrom(spec)

    def _trace(self, trace, parameters=None, signature=None):
        """The function of the library that a trace became."""
        known = self._written.get(id(trace))
        if known is not None:
            return known
        name = f"__inference_{_plain(trace.name)}_{len(self._written)}"
        made = write_function(self.writer, name, trace.graph.handle)
        arguments = structures.arguments(_functions.encode_trace(trace)["arguments"], parameters)
        results = structures.structured(encode(Binding(trace, signature).outputs()))
        bound = [self._resource(key)[0] for key in made.resources]
        self.objects.describe(made.name, bound, arguments, results)
        self._written[id(trace)] = made
        self._held.append(trace)
        return made

    def _add_signatures(self, parts):
        for key, trace, inputs, outputs in parts.signatures:
            function = self._trace(trace)
            wrapper = write_signature(self.writer, key, function, inputs, outputs)
            arguments, results = _specs_of(trace, inputs), _results_of(trace, outputs)
            numbers = [self._resource(resource)[0] for resource in function.resources]
            self.objects.describe(wrapper.name, numbers, arguments, results)
            number = self.objects.add_concrete(wrapper.name, sorted(inputs), 0)
            self.objects.add_part(self._signature_map, key, number)
            self._add_signature_to_graph(key, trace, wrapper, inputs, outputs)

    def _add_signature_to_graph(self, key, trace, wrapper, inputs, outputs):
        made = self._meta.signature_def[key]
        made.method_name = _PREDICT
        given = {}
        for name, tensor in zip(inputs, trace.graph.inputs, strict=True):
            label = self.writer.fresh(f"{_plain(key)}_{_plain(name)}")
            known = {"dtype": tensor.dtype, "shape": _sizes(tensor.shape)}
            given[name] = self.writer.add(label, "Placeholder", (), known)
            _fill_info(made.inputs[name], f"{label}:0", tensor)
        handles = [self._resource(resource)[1] for resource in wrapper.resources]
        label = self.writer.fresh("StatefulPartitionedCall")
        call_of(self.writer, wrapper, label, [*(given[name] for name in sorted(given)), *handles])
        for at, name in enumerate(sorted(outputs)):
            tensor = trace.graph.outputs[outputs.index(name)]
            _fill_info(made.outputs[name], f"{label}:{at}", tensor)

    def _add_aliases(self, parts, aliases):
        for alias, number in aliases.items():
            for trace in parts.objects[number]["traces"]:
                self._meta.meta_info_def.function_aliases.add(
                    key=self._written[id(trace)].name, value=alias
                )

    # --- what all of it needs ----------------------------------------------------------------

    def _keys(self):
        self._records, keys = checkpoint_records(self.objects.message)
        return keys

    def _check(self):
        """Raises where an op was written that TensorFlow does not have."""
        found = {}
        for node in self._library.foreign_nodes:
            found.setdefault(node.kind, getattr(node, "site", ""))
        if found:
            lines = (f"{kind}" + (f" ({site})" if site else "") for kind, site in found.items())
            raise NoFormError("TensorFlow has no op for " + ", ".join(lines))

    def _list_ops(self):
        graph = self._meta.graph_def
        nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]
        for name in sorted({node.op for node in nodes}):
            self._meta.meta_info_def.stripped_op_list.op.append(op_defs.op_def_message(name))

    def write(self, folder):
        """Writes the folder: as a whole, or not at all."""
        place = _tidemark.ModelFolderWriter(folder)
        variables = os.path.join(place.path, "variables")
        os.mkdir(variables)
        assets = os.path.join(place.path, "assets")
        os.mkdir(assets)
        self._assets.write(assets)
        write_tensors(os.path.join(variables, "variables"), self._tensors())
        data = self._message.SerializeToString()
        _tidemark.write_file(os.path.join(place.path, "saved_model.pb"), data)
        place.commit()

    def _tensors(self):
        keys = self._keys()
        for number, variable, _ in self._variables.values():
            yield keys[number], variable.value()
        yield OBJECTS_KEY, convert_to_tensor(_tidemark.write_object_graph(self._records))


def resource_changes(graphs):
    """Keys of the tables that nodes of the graphs change."""
    found = set()
    for graph in graphs:
        for node, _ in graph.nodes():
            if node.kind in ("table_insert", "table_remove"):
                found.add(table_key(node.attrs["table"]))
            found |= resource_changes(inner for _, inner, _ in node.inner_graphs)
    return found


def _parts_of(data):
    """(name, number) of the parts of an object."""
    parts = data.get("parts", {})
    pairs = parts.items() if isinstance(parts, dict) else enumerate(parts)
    found = [(str(name), number) for name, number in pairs if number is not None]
    if data["kind"] == "table" and data["default"] is not None:
        found.append(("_default_value", data["default"]))
    return found


def _sizes(shape):
    return None if shape.rank is None else shape.as_list()


def _plain(name):
    """A name as nodes and functions may have it."""
    return "".join(c if c.isalnum() and c.isascii() or c in "_." else "_" for c in name)


def _fill_info(info, name, tensor):
    info.name, info.dtype = name, tensor.dtype.as_datatype_enum
    info.tensor_shape.CopyFrom(shape_message(tensor.shape))
    info.tensor_shape.SetInParent()


def _spec(tensor, name):
    return {"spec": [_sizes(tensor.shape), tensor.dtype.name, name]}


def _specs_of(trace, inputs):
    pairs = zip(inputs, trace.graph.inputs, strict=True)
    fields = sorted([name, _spec(tensor, name)] for name, tensor in pairs)
    return structures.structured({"tuple": [{"tuple": []}, {"dict": fields}]})


def _results_of(trace, outputs):
    pairs = zip(outputs, trace.graph.outputs, strict=True)
    return structures.structured({"dict": [[name, _spec(t, name)] for name, t in pairs]})


__all__ = ["TensorFlowModel"]
