"""A graph as TensorFlow's ``GraphDef``."""

from __future__ import annotations

from tidemark import _tidemark
from tidemark._proto.framework import GraphDef, NodeDef
from tidemark._v1.graph_def.functions import FunctionWriter
from tidemark._v1.graph_def.special_ops import reads_by_name, sizes_of
from tidemark._v1.graph_def.values import python_value
from tidemark._v1.graph_def.writer import Library, Writer

PRODUCER = 1987  # a version of GraphDef that TensorFlow 2 reads


def _message():
    message = GraphDef()
    message.versions.producer = PRODUCER
    return message


def export_graph(graph, add_shapes=False):
    """The live operations of a graph."""
    message = _message()
    write_live(Writer(message, Library(message.library), add_shapes), graph)
    return message


def write_live(writer, graph):
    """Writes the live operations of a graph."""
    nodes = graph._shared.nodes()
    # The reading that has its variable's name leaves it to the variable.
    writer._used.update(node.label for node in nodes if not reads_by_name(node))
    for node in nodes:
        writer._used.discard(node.label)
        writer.write(node)


def export_function_graph(graph, names, add_shapes=False):
    """A function's graph, which is finished; ``names``: of its inputs."""
    message = _message()
    writer = FunctionWriter(message, Library(message.library), add_shapes)
    for tensor, name in zip(graph.inputs, names, strict=True):
        label = writer.fresh(name)
        writer.add(label, "Placeholder", (), {"dtype": tensor.dtype, "shape": sizes_of(tensor)})
        writer.is_argument(tensor, label, label)
    writer.write_graph(graph)
    writer.write_results(graph.outputs)
    return message


def node_def_of(node):
    """One operation; its inputs by the names they have in the graph."""
    message = GraphDef()
    writer = Writer(message, Library(message.library))
    for tensor in node.inputs:
        if _tidemark.is_symbolic(tensor):
            made = _tidemark.node_of(tensor)
            index = _tidemark.output_index(tensor)
            writer.give(made, index, f"{made.label}:{index}" if index else made.label)
    for item in node.before:
        writer.is_made_by(item, item.label)
    writer.write(node)
    found = [item for item in message.node if item.name == node.label]
    made = NodeDef()
    made.CopyFrom(found[-1] if found else message.node[-1])
    return made


def attr_value(node_def, name):
    """The value of an attribute of a NodeDef."""
    if name not in node_def.attr:
        raise ValueError(f"Operation '{node_def.name}' has no attr named '{name}'.")
    return python_value(node_def.attr[name], f"attribute {name} of {node_def.name}")
