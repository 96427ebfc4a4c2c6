"""Nodes of a graph as nodes of TensorFlow's ``GraphDef``."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, dtypes
from tidemark._tidemark import Tensor
from tidemark._v1.graph_def import composed_ops, op_defs, special_ops, table
from tidemark._v1.graph_def.values import set_attr, shape_message, tensor_message


class Library:
    """The functions of a message."""

    def __init__(self, message):
        self._message, self._used = message, set()
        self.foreign_nodes = []  # those of all graphs that TensorFlow has no op for
        self.keeps_ours = False  # ops of ours that are several nodes are functions that say so
        self.assets = frozenset()  # keys of the files whose paths functions are given
        self.composed = {}  # such ops → names of functions

    def add(self, name):
        """A new function, called so or with a number behind it."""
        count, made = 0, name
        while made in self._used:
            count += 1
            made = f"{name}_{count}"
        self._used.add(made)
        function = self._message.function.add()
        function.signature.name = made
        return function

    def remove(self, function):
        """Forgets the function that was added last."""
        assert self._message.function[-1] is function
        del self._message.function[-1]


class Writer:
    """Adds the nodes of one graph to a message."""

    def __init__(self, message, library, add_shapes=False, prefix=""):
        self.message, self.library = message, library
        self._add_shapes, self._prefix = add_shapes, prefix
        self._names = {}  # (sequence, output) → "name:output"; output -1: the node itself
        self._used = set()
        self._variables = {}  # id → the node that stands for it; keys of tables, too

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

    def argument_for(self, constant):
        """What a function is given in the place of a constant; None."""
        return None

    def reference(self, tensor, name):
        """How another node refers to the tensor; constants are written under the name."""
        if not _tidemark.is_symbolic(tensor):
            return self.constant(name, tensor)
        return self._names[(_tidemark.node_of(tensor).sequence, _tidemark.output_index(tensor))]

    def give(self, node, index, reference):
        """Says under what name an output of a node of ours is found."""
        self._names[(node.sequence, index)] = reference

    def is_made_by(self, node, name):
        """Says which node of the message to wait for where one waits for a node of ours."""
        self._names[(node.sequence, -1)] = name

    def variable(self, use, dtype, shape):
        """The handle of the variable that a node uses, written on first use."""
        number, name, *_ = use
        if number not in self._variables:
            self._variables[number] = self.declare(name, dtype, shape)
        return self._variables[number]

    def declared(self, key, declare):
        """The node that stands for something that has no dtype and shape, written on first use."""
        if key not in self._variables:
            self._variables[key] = declare()
        return self._variables[key]

    def table(self, key):
        """The handle of the table of this key; None: graphs of sessions name tables by number."""
        return self._variables.get(key)

    def declare(self, name, dtype, shape):
        """Writes the node that stands for a variable."""
        attrs = {"dtype": dtype, "shape": shape, "shared_name": name}
        return self.add(self.fresh(self._prefix + name), "VarHandleOp", (), attrs)

    def label_of(self, node):
        """What the node is called."""
        label = self._prefix + node.label
        if not special_ops.reads_by_name(node):
            self._used.add(label)
        return label

    # --- nodes -------------------------------------------------------------------------------

    def write(self, node, after=()):
        """One node of ours, as one or more of TensorFlow's; ``after``: nodes that ran before it."""
        label = self.label_of(node)
        before = len(self.message.node)
        control = dict.fromkeys(self._names[(n.sequence, -1)] for n in (*node.before, *after))
        kind = node.kind
        rule = table.rule_of(kind)
        made = False
        if kind in special_ops.WRITERS:
            made = special_ops.WRITERS[kind](self, node, label)
        elif rule is not None and special_ops.rule_applies(node):
            made = self._by_rule(rule, node, label)
        if not made and not self._composed(node, label):
            self._ours(node, label)
        written = list(self.message.node)[before:]
        last = written[-1] if written else None
        if control:
            waiting = ["^" + name for name in control if name is not None]
            for made in written:  # what computes in between waits with what it reads
                if made.name == label or made.op == "ReadVariableOp":
                    made.input.extend(waiting)
        if last is not None and self._add_shapes:
            last.attr["_output_shapes"].list.SetInParent()
            for i in range(node.num_outputs):
                shape = shape_message(node.output(i).shape)
                last.attr["_output_shapes"].list.shape.append(shape)
        reference = self._names.get((node.sequence, 0), label)
        self._names.setdefault((node.sequence, -1), reference.partition(":")[0])

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

    def _composed(self, node, label):
        """Writes the node as several of TensorFlow's."""
        compose = composed_ops.WRITERS.get(node.kind)
        if compose is not None:
            return compose(self, node, label)
        return self._expanded(node, label)

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
        if made is None:
            return False
        made = made if isinstance(made, list) else [made]
        writer = Writer(self.message, self.library, False, label + "/")
        writer._used = self._used
        for index, (tensor, outer) in enumerate(zip(inner, node.inputs, strict=True)):
            name = self.reference(outer, f"{label}/input_{index}")
            writer.give(_tidemark.node_of(tensor), 0, name)
            writer.is_made_by(_tidemark.node_of(tensor), name.partition(":")[0])
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
        self.library.foreign_nodes.append(node)
        inputs = [self.reference(t, f"{label}/input_{i}") for i, t in enumerate(node.inputs)]
        attrs = {}
        for name, value in node.attrs.items():
            if value is not None:
                attrs[name] = special_ops.plain_attr(value)
        outs = [node.output(i).dtype for i in range(node.num_outputs)]
        attrs["_output_types"] = ("list(type)", outs)
        self.add(label, "Tidemark>" + node.kind, inputs, attrs)
        self.outputs(node, label)
