"""Graphs with their collections in files: what ``Saver.save`` writes beside the values.

saver = tf.compat.v1.train.import_meta_graph("model.ckpt.meta")
saver.restore(sess, "model.ckpt")
"""

from __future__ import annotations

import os

from tidemark import _tidemark
from tidemark._graph.scopes import get_current_name_scope, get_logger
from tidemark._proto.framework import GraphDef
from tidemark._proto.meta_graph import MetaGraphDef, VariableDef
from tidemark._proto.tensors import make_ndarray
from tidemark._proto.text import from_text
from tidemark._tidemark import Tensor
from tidemark._v1.graph import Graph, GraphKeys, Operation, get_default_graph
from tidemark._v1.graph_def.importing import import_graph_def
from tidemark._v1.iterators import IteratorSaveable
from tidemark._v1.variables import RefVariable
from tidemark.errors import InvalidArgumentError, UnimplementedError
from tidemark.io import gfile
from tidemark.version import VERSION

# Collections of variables, which are written with what initialises them.
_OF_VARIABLES = (
    GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.MODEL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES, GraphKeys.MOVING_AVERAGE_VARIABLES, GraphKeys.METRIC_VARIABLES,
    GraphKeys.GLOBAL_STEP,
)  # fmt: skip


def _needs_graph():
    if not _tidemark.is_tracing():
        raise RuntimeError(
            "Exporting/importing meta graphs is not supported when eager execution is enabled. No "
            "graph exists when eager execution is enabled: use tf.Graph().as_default()."
        )


# --- writing --------------------------------------------------------------------------------------


def variable_def(variable):
    """What tells which nodes of the graph a variable is made of."""
    return VariableDef(
        variable_name=variable.name,
        initial_value_name=variable.initial_value.name,
        initializer_name=variable.initializer.name,
        snapshot_name=f"{variable.op.name}/Read/ReadVariableOp:0",
        is_resource=True,
        trainable=variable.trainable,
        synchronization=variable.synchronization.value,
        aggregation=variable.aggregation.value,
    )


def _add_collection(message, name, items):
    """Puts a collection into the message; one of things that cannot be written is left out."""
    if name in _OF_VARIABLES and all(isinstance(item, RefVariable) for item in items):
        kind, values = "bytes_list", [variable_def(item).SerializeToString() for item in items]
    elif name == GraphKeys.SAVEABLE_OBJECTS and all(hasattr(item, "handle") for item in items):
        kind, values = "bytes_list", [item.handle.encode() for item in items]
    elif all(isinstance(item, (str, bytes)) for item in items):
        encoded = (item.encode() if isinstance(item, str) else item for item in items)
        kind, values = "bytes_list", list(encoded)
    elif all(isinstance(item, int) for item in items):
        kind, values = "int64_list", [int(item) for item in items]
    elif all(isinstance(item, float) for item in items):
        kind, values = "float_list", items
    elif all(isinstance(item, (Tensor, Operation, RefVariable)) for item in items):
        kind, values = "node_list", [item.name for item in items]
    else:
        get_logger().warning(
            "The collection %r is not written: a meta graph holds variables, tensors, operations, "
            "texts and numbers, all of one kind in a collection",
            name,
        )
        return
    getattr(message.collection_def[name], kind).value.extend(values)


def export_meta_graph(filename=None, meta_info_def=None, graph_def=None, saver_def=None,
                      collection_list=None, as_text=False, graph=None, export_scope=None,
                      clear_devices=False, clear_extraneous_savers=False,
                      strip_default_attrs=False, save_debug_info=False):  # fmt: skip
    """The graph and its collections as a MetaGraphDef, written to a file if one is named."""
    if graph is None:
        _needs_graph()
    if export_scope:
        raise UnimplementedError(
            None, None, "parts of a graph (export_scope) are not exported: export the whole graph"
        )
    if graph_def is not None and not isinstance(graph_def, GraphDef):
        graph_def = GraphDef.FromString(graph_def.SerializeToString())
    graph = graph or get_default_graph()
    if not isinstance(graph, Graph):
        raise TypeError(f"graph must be of type Graph, not {type(graph)}")
    message = MetaGraphDef()
    if meta_info_def is not None:
        message.meta_info_def.MergeFromString(meta_info_def.SerializeToString())
    message.meta_info_def.tensorflow_version = VERSION
    message.graph_def.CopyFrom(graph_def or graph.as_graph_def(add_shapes=True))
    if clear_devices:
        for node in message.graph_def.node:
            node.device = ""
    if saver_def is not None:
        message.saver_def.MergeFromString(saver_def.SerializeToString())
    names = graph.get_all_collection_keys() if collection_list is None else collection_list
    for name in names:
        items = graph.get_collection(name)
        if items:
            _add_collection(message, name, items)
    if filename is not None:
        _write(filename, message, as_text)
    return message


def _write(filename, message, as_text):
    """The file whole, or as it was."""
    path = gfile._path(filename)
    data = str(message).encode() if as_text else message.SerializeToString()
    unfinished = f"{path}.tmp{os.getpid()}"
    with gfile._translated():
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(unfinished, "wb") as file:
            file.write(data)
        os.replace(unfinished, path)


# --- reading --------------------------------------------------------------------------------------


def _read(meta_graph_or_file):
    if isinstance(meta_graph_or_file, MetaGraphDef):
        return meta_graph_or_file
    if hasattr(meta_graph_or_file, "SerializeToString"):
        return MetaGraphDef.FromString(meta_graph_or_file.SerializeToString())
    if not gfile.exists(meta_graph_or_file):
        raise OSError(f"File {meta_graph_or_file} does not exist.")
    with gfile.GFile(meta_graph_or_file, "rb") as file:
        data = file.read()
    try:
        return MetaGraphDef.FromString(data)
    except (ValueError, InvalidArgumentError):
        pass
    try:
        return from_text(data.decode(), MetaGraphDef())
    except (ValueError, InvalidArgumentError) as error:
        raise OSError(f"Cannot parse file {meta_graph_or_file}: {error}.") from None


class _Imported:
    """The objects of an imported graph, by the names that they had where it was written."""

    def __init__(self, graph, prefix, handles):
        self._graph, self._prefix, self._handles = graph, prefix, handles
        self.variables = {}  # by the name of the node that declares each

    def element(self, name):
        if name.partition(":")[0] in self.variables:
            return self.variables[name.partition(":")[0]]
        return self._graph.as_graph_element(self._prefix + name)

    def variable(self, data):
        message = VariableDef.FromString(data)
        name = message.variable_name.partition(":")[0]
        if name not in self.variables:
            made = self._handles[name].variable
            made._trainable = message.trainable
            made._initializer = self.element(message.initializer_name)
            if message.initial_value_name:
                made._initial_value = self.element(message.initial_value_name)
            self.variables[name] = made
        return self.variables[name]

    def saveable(self, handle):
        """An iterator that was read; the one that wrote the graph, where the graph tells nothing
        of its dataset."""
        name = handle.partition(" ")[0]
        if name in self._handles:
            return IteratorSaveable(self._handles[name].deref(), handle)
        return IteratorSaveable.with_handle(handle)

    def collection(self, name, message):
        kind = message.WhichOneof("kind")
        if kind is None:
            return []
        values = list(getattr(message, kind).value)
        if kind == "node_list":
            return [self.element(value) for value in values]
        if kind == "bytes_list" and name in _OF_VARIABLES:
            return [self.variable(value) for value in values]
        if kind == "bytes_list" and name == GraphKeys.SAVEABLE_OBJECTS:
            found = (self.saveable(value.decode()) for value in values)
            return [saveable for saveable in found if saveable is not None]
        return values


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Adds the graph of a file to this one; a Saver of its variables, or None if it has none."""
    return import_with_elements(meta_graph_or_file, clear_devices, import_scope, **kwargs)[0]


def import_with_elements(meta_graph_or_file, clear_devices=False, import_scope=None,
                         return_elements=None, input_map=None, graph=None):  # fmt: skip
    """The Saver, and the elements of the graph that were asked for by name."""
    if graph is not None and graph is not get_default_graph():
        with graph.as_default():
            return import_with_elements(
                meta_graph_or_file, clear_devices, import_scope, return_elements, input_map
            )
    _needs_graph()
    message = _read(meta_graph_or_file)
    graph = get_default_graph()
    graph.check_not_finalized()
    graph_def, keys = _without_saving(message.graph_def)
    if clear_devices:
        for node in graph_def.node:
            node.device = ""
    scope = graph.unique_name(import_scope) if import_scope else get_current_name_scope()
    prefix = f"{scope}/" if scope else ""
    declared = (*_DECLARING, *_ITERATORS)
    variables = [node.name for node in graph_def.node if node.op in declared]
    asked = list(return_elements or ())
    found = import_graph_def(
        graph_def, input_map, [f"{name}:0" for name in variables] + asked, name=prefix
    )
    handles = dict(zip(variables, found, strict=False))
    imported = _Imported(graph, prefix, handles)
    # Variables first: other collections name the same objects.
    entries = sorted(
        message.collection_def.items(), key=lambda entry: entry[0] not in _OF_VARIABLES
    )
    for name, entry in entries:
        for item in imported.collection(name, entry):
            graph.add_to_collection(name, item)
    saver_def = message.saver_def if message.HasField("saver_def") else None
    saveables = graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)
    return _saver_of(imported.variables, keys, saver_def, saveables), found[len(variables) :]


def _saver_of(variables, keys, saver_def, saveables):
    """What saves the imported variables under the names that they had in files."""
    from tidemark._v1.train.saver import Saver  # it imports this module

    if not variables and not saveables:
        get_logger().info("Saver not created because there are no variables to restore")
        return None
    named = {keys.get(name, name): variable for name, variable in variables.items()}
    named.update({saveable.name: saveable for saveable in saveables})
    return Saver(named, saver_def=saver_def)


_DECLARING = ("VarHandleOp", "VariableV2", "Variable")
_ITERATORS = ("IteratorV2", "OneShotIterator")
_SAVING = ("SaveV2", "RestoreV2", "Save", "SaveSlices", "Restore", "RestoreSlice",
           "ShardedFilename", "MergeV2Checkpoints")  # fmt: skip


def _without_saving(graph_def):
    """The graph without the nodes by which TensorFlow saves and restores: a Saver does that here.

    Also the names in files that those nodes give to variables: node → name.
    """
    nodes = {node.name: node for node in graph_def.node}
    gone = {name for name, node in nodes.items() if node.op in _SAVING}
    keys = {}
    for name in gone:
        if nodes[name].op == "SaveV2":
            keys.update(_keys_in(nodes, nodes[name]))
    kept = GraphDef()
    kept.versions.CopyFrom(graph_def.versions)
    kept.library.CopyFrom(graph_def.library)
    for node in graph_def.node:  # inputs come before what uses them
        if node.name in gone or any(_node_of(one) in gone for one in node.input):
            gone.add(node.name)
        else:
            kept.node.append(node)
    return (kept, keys) if gone else (graph_def, keys)


def _node_of(reference):
    return reference.removeprefix("^").partition(":")[0]


def _keys_in(nodes, save):
    names = nodes[_node_of(save.input[1])]
    values = make_ndarray(names.attr["value"].tensor).ravel().tolist()
    for reference, key in zip(save.input[3:], values, strict=False):
        source = nodes[_node_of(reference)]
        if source.op not in _DECLARING and source.input:  # a reading of it
            source = nodes[_node_of(source.input[0])]
        yield source.name, key.decode()
