"""A graph as TensorFlow's ``GraphDef``."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, dtypes
from tidemark._proto.framework import GraphDef, NodeDef
from tidemark._tidemark import Tensor
from tidemark._v1.graph_def import op_defs, special_ops, table
from tidemark._v1.graph_def.values import python_value, set_attr, shape_message, tensor_message

PRODUCER = 1987  # a version of GraphDef that TensorFlow 2 reads


class Writer:
    """Adds the nodes of one graph to a message."""

    def __init__(self, message, add_shapes=False, prefix=""):
        self.message, self._add_shapes, self._prefix = message, add_shapes, prefix
        self._names = {}  # (sequence, output) → "name:output"
        self._used = set()
        self._variables = {}

    # --- what special_ops call ---------------------------------------------------------------

    def fresh(self, name):
        """The name, or with a number where it is taken."""
        count, made = 0, name
        while made in self._used:
            count += 1
            made = f"{name}_{count}"
        self._used.add(made)
        return made

    def add(self, name, op, inputs=(), attrs=None, types=(), control=()):
        """A node of TensorFlow's; ``types``: dtypes of the inputs, one each or a list of them."""
        node = self.message.node.add(name=name, op=op)
        flat = [item for one in inputs for item in (one if isinstance(one, list) else [one])]
        node.input.extend(flat)
        node.input.extend(["^" + item for item in control])
        definition = op_defs.find(op)
        if definition is None:
            for key, (kind, value) in (attrs or {}).items():
                set_attr(node.attr[key], kind, value)
            return name
        known = dict(attrs or {})
        for argument, given in zip(definition.inputs, types, strict=False):
            if argument.number:
                known.setdefault(argument.number, len(given))
                given = given[0]
            if argument.is_list or argument.kind in definition.attrs:
                known.setdefault(argument.kind, given)
        for attr in definition.attrs.values():
            value = known.get(attr.name, attr.default)
            if value is not None:
                set_attr(node.attr[attr.name], attr.kind, value)
        return name

    def constant(self, name, value, dtype=None, is_node=False):
        """A constant of a Python value or a tensor that holds values; ``is_node``: it has the name
        already."""
        if not isinstance(value, Tensor):
            enum = None if dtype is None else dtype._enum
            value = _tidemark.convert(np.asarray(value), enum, None, False)
        node = self.message.node.add(name=name if is_node else self.fresh(name), op="Const")
        node.attr["dtype"].type = value.dtype.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tensor_message(value))
        return node.name

    def reference(self, tensor, name):
        """How another node refers to the tensor; constants are written under the name."""
        if not _tidemark.is_symbolic(tensor):
            return self.constant(name, tensor)
        return self._names[(_tidemark.node_of(tensor).sequence, _tidemark.output_index(tensor))]

    def give(self, node, index, reference):
        """Says under what name an output of a node of ours is found."""
        self._names[(node.sequence, index)] = reference

    def variable(self, variable, dtype, shape):
        """The handle of a variable, written on first use."""
        if variable.id not in self._variables:
            name = self.fresh(self._prefix + variable.name)
            self._variables[variable.id] = name
            self.add(name, "VarHandleOp", (),
                     {"dtype": dtype, "shape": shape, "shared_name": variable.name})  # fmt: skip
        return self._variables[variable.id]

    # --- nodes -------------------------------------------------------------------------------

    def write(self, node):
        """One node of ours, as one or more of TensorFlow's."""
        label = self._prefix + node.label
        use = node.variable_use
        if use is None or use[1] != "read" or use[0].name != node.label:
            self._used.add(label)
        before = len(self.message.node)
        control = [self._names[(item.sequence, -1)] for item in node.before]
        kind = node.kind
        rule = table.rule_of(kind)
        if kind in special_ops.WRITERS:
            made = special_ops.WRITERS[kind](self, node, label)
        elif rule is not None and special_ops.rule_applies(node):
            made = self._by_rule(rule, node, label)
        else:
            made = self._expanded(node, label)
        if not made:
            self._ours(node, label)
        last = self.message.node[-1] if len(self.message.node) > before else None
        if last is not None and control:
            last.input.extend(["^" + name for name in control])
        if last is not None and self._add_shapes:
            last.attr["_output_shapes"].list.SetInParent()
            for i in range(node.num_outputs):
                shape = shape_message(node.output(i).shape)
                last.attr["_output_shapes"].list.shape.append(shape)
        reference = self._names.get((node.sequence, 0), label)
        self._names[(node.sequence, -1)] = reference.partition(":")[0]

    def outputs(self, node, name):
        """The node's outputs are those of the one of this name."""
        for index in range(node.num_outputs):
            self.give(node, index, f"{name}:{index}" if index else name)
        return True

    def inputs_by_name(self, node):
        """Our parameters → tensors, lists of tensors for a list."""
        schema, tensors = _tidemark.op_schema(node.kind), list(node.inputs)
        params = [p for p in schema["params"] if p["kind"] != "attr"]
        in_list = len(tensors) - (len(params) - 1)
        out = {}
        for param in params:
            if param["kind"] == "input_list":
                out[param["name"]], tensors = tensors[:in_list], tensors[in_list:]
            else:
                out[param["name"]] = tensors.pop(0)
        return out

    def _by_rule(self, rule, node, label):
        given, attrs = self.inputs_by_name(node), node.attrs
        definition = op_defs.find(rule.theirs)
        inputs, types = [], []
        for argument, item in zip(definition.inputs, rule.inputs, strict=True):
            if item.startswith("@"):
                value = special_ops.attr_as_input(self, node, item[1:], attrs[item[1:]], label)
                inputs.append(value)
                types.append(dtypes.int32)
            elif item.startswith("*"):
                tensors = given[item[1:]]
                inputs.append([self.reference(t, f"{label}/{argument.name}") for t in tensors])
                types.append([t.dtype for t in tensors])
            else:
                inputs.append(self.reference(given[item], f"{label}/{argument.name}"))
                types.append(given[item].dtype)
        known = {
            theirs: special_ops.attr_value(node, ours, attrs[ours], definition.attrs[theirs].kind)
            for theirs, ours in rule.attrs.items()
        }
        known = {name: value for name, value in known.items() if value is not None}
        for argument, index in zip(definition.outputs, range(node.num_outputs), strict=False):
            if argument.kind in definition.attrs and not argument.is_list:
                known.setdefault(argument.kind, node.output(index).dtype)
        self.add(label, rule.theirs, inputs, known, types)
        return self.outputs(node, label)

    def _expanded(self, node, label):
        """Writes the node as the nodes that its expansion makes in a graph of its own."""
        from tidemark._v1.graph import Graph  # loaded on first use
        from tidemark._v1.graph_def.expansions import EXPANSIONS  # loaded on first use

        function = EXPANSIONS.get(node.kind)
        if function is None:
            return False
        graph = Graph()
        with graph.as_default():
            inner = [_tidemark.placeholder(t.dtype, t.shape) for t in node.inputs]
            made = function(*inner, **node.attrs)
        made = made if isinstance(made, list) else [made]
        writer = Writer(self.message, False, label + "/")
        writer._used = self._used
        for index, (tensor, outer) in enumerate(zip(inner, node.inputs, strict=True)):
            name = self.reference(outer, f"{label}/input_{index}")
            writer.give(_tidemark.node_of(tensor), 0, name)
            writer._names[(_tidemark.node_of(tensor).sequence, -1)] = name.partition(":")[0]
        for item in graph._shared.nodes():
            if (item.sequence, -1) not in writer._names:
                writer.write(item)
        # The first output is found under the node's own name.
        self.add(label, "Identity", [writer.reference(made[0], label)], None, [made[0].dtype])
        self.give(node, 0, label)
        for index, tensor in enumerate(made[1:], 1):
            self.give(node, index, writer.reference(tensor, label))
        return True

    def _ours(self, node, label):
        """An op that TensorFlow does not have, under a name of its own: it is read back here."""
        inputs = [self.reference(t, f"{label}/input_{i}") for i, t in enumerate(node.inputs)]
        attrs = {}
        for name, value in node.attrs.items():
            if value is not None:
                attrs[name] = special_ops.plain_attr(value)
        outs = [node.output(i).dtype for i in range(node.num_outputs)]
        attrs["_output_types"] = ("list(type)", outs)
        self.add(label, "Tidemark>" + node.kind, inputs, attrs)
        self.outputs(node, label)


def export_graph(graph, add_shapes=False):
    """The live operations of a graph."""
    message = GraphDef()
    message.versions.producer = PRODUCER
    writer = Writer(message, add_shapes)
    nodes = graph._shared.nodes()
    writer._used.update(node.label for node in nodes if node.variable_use is None)
    for node in nodes:
        writer._used.discard(node.label)
        writer.write(node)
    return message


def node_def_of(node):
    """One operation; its inputs by the names they have in the graph."""
    message = GraphDef()
    writer = Writer(message)
    for tensor in node.inputs:
        if _tidemark.is_symbolic(tensor):
            made = _tidemark.node_of(tensor)
            index = _tidemark.output_index(tensor)
            writer.give(made, index, f"{made.label}:{index}" if index else made.label)
    for item in node.before:
        writer._names[(item.sequence, -1)] = item.label
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
