"""``tf.compat.v1.graph_util`` and files of graphs."""

from __future__ import annotations

import pathlib

from tidemark import _tidemark
from tidemark._proto.framework import GraphDef
from tidemark._v1.graph_def.values import tensor_message


def _name_of(reference):
    return reference.lstrip("^").partition(":")[0]


def extract_sub_graph(graph_def, dest_nodes):
    """The part of a GraphDef that the nodes need."""
    if not isinstance(graph_def, GraphDef):
        raise TypeError(f"graph_def must be a graph_pb2 proto, but got type {type(graph_def)}.")
    if isinstance(dest_nodes, str):
        raise TypeError(f"dest_nodes must be an iterable of strings, but got type {str}.")
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    wanted, waiting = set(), list(dest_nodes)
    while waiting:
        name = waiting.pop()
        if name in wanted or name not in nodes:
            continue
        wanted.add(name)
        waiting.extend(_name_of(reference) for reference in nodes[name].input)
    out = GraphDef()
    out.node.extend([node for node in graph_def.node if node.name in wanted])
    out.library.CopyFrom(graph_def.library)
    if not len(graph_def.library.function):
        out.ClearField("library")
    out.versions.CopyFrom(graph_def.versions)
    return out


def remove_training_nodes(input_graph, protected_nodes=None):
    """The graph without identities, which matter to training alone."""
    keep = set(protected_nodes or ())
    skipped = {}
    for node in input_graph.node:
        controls = [i for i in node.input if i.startswith("^")]
        if node.op == "Identity" and node.name not in keep and not controls:
            skipped[node.name] = node.input[0]
    out = GraphDef()
    for node in input_graph.node:
        if node.name in skipped:
            continue
        made = out.node.add()
        made.CopyFrom(node)
        for i, reference in enumerate(made.input):
            while not reference.startswith("^") and reference in skipped:
                reference = skipped[reference]
            made.input[i] = reference
    out.versions.CopyFrom(input_graph.versions)
    return out


def convert_variables_to_constants(sess, input_graph_def, output_node_names,
                                   variable_names_whitelist=None,
                                   variable_names_blacklist=None):  # fmt: skip
    """The part of the graph that the outputs need, with the session's values of its variables."""
    part = extract_sub_graph(input_graph_def, output_node_names)
    values = _values(sess, part, variable_names_whitelist, variable_names_blacklist)
    out = GraphDef()
    out.versions.CopyFrom(part.versions)
    if len(part.library.function):
        out.library.CopyFrom(part.library)
    for node in part.node:
        made = out.node.add()
        if node.name in values:
            made.name, made.op = node.name, "Const"
            made.attr["dtype"].type = node.attr["dtype"].type
            made.attr["value"].tensor.CopyFrom(tensor_message(values[node.name]))
            continue
        made.CopyFrom(node)
        if made.op == "ReadVariableOp" and _name_of(made.input[0]) in values:
            made.op = "Identity"
            made.attr["T"].type = made.attr["dtype"].type
            made.attr.pop("dtype", None)
    return out


def _values(sess, part, allowed, forbidden):
    found = {}
    for node in part.node:
        if node.op not in ("VarHandleOp", "VariableV2", "Variable"):
            continue
        if allowed is not None and node.name not in allowed:
            continue
        if forbidden is not None and node.name in forbidden:
            continue
        reading = sess.graph.get_operation_by_name(node.name).outputs[0]
        found[node.name] = reading
    values = sess.run(found) if found else {}
    return {
        name: _tidemark.convert(value, found[name].dtype._enum, None, False)
        for name, value in values.items()
    }


def tensor_shape_from_node_def_name(graph, input_name):
    """The shape of a tensor given by its name in a GraphDef."""
    name = input_name if ":" in input_name else input_name + ":0"
    return graph.get_tensor_by_name(name).shape


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a graph to a file, as text or as bytes; gives its path."""
    message = graph_or_graph_def
    if hasattr(message, "as_graph_def"):
        message = message.as_graph_def()
    path = pathlib.Path(logdir) / name
    if logdir:
        path.parent.mkdir(parents=True, exist_ok=True)
    if as_text:
        path.write_text(str(message))
    else:
        path.write_bytes(message.SerializeToString())
    return str(path)


def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None,
                     producer_op_list=None):  # fmt: skip
    """The operations of a message, made in the graph that is built here."""
    from tidemark._v1.graph_def import importing  # it imports this module

    return importing.import_graph_def(
        graph_def, input_map, return_elements, name, producer_op_list=producer_op_list
    )
