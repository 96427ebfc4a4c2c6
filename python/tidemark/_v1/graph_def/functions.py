"""Graphs of functions as ``GraphDef``, and the functions that branches and loops run.

Arguments are placeholders, variables are placeholders of resources, the results stand behind
``Identity`` nodes, as in the graphs that ``tf.function`` makes. What a branch or a loop runs is a
function of the message's library: it takes all that the node takes, whether it needs it or not.
"""

from __future__ import annotations

import functools
import types

from tidemark import _tidemark, dtypes
from tidemark._proto.framework import GraphDef
from tidemark._v1.graph_def import op_defs, table
from tidemark._v1.graph_def.special_ops import (
    TABLE_KINDS,
    plain_attr,
    sizes_of,
    table_key,
    writes,
)
from tidemark._v1.graph_def.values import set_attr
from tidemark._v1.graph_def.writer import Writer


def is_stateful(node):
    """Whether the node, or one inside of it, does more than to compute its outputs."""
    inner = node.inner_graphs
    if inner:
        return any(is_stateful(item) for _, graph, _ in inner for item, _ in graph.nodes())
    return not node.is_pure


def _asset_of(tensor, assets):
    """The key of the file whose path a constant is; None."""
    if not assets or _tidemark.is_symbolic(tensor):
        return None
    from tidemark.saved_model._asset import asset_of  # models that are saved alone have files

    return asset_of(tensor, assets)


def handle_dtype(key):
    """The dtype of what stands for a variable, a table or a file among a function's arguments."""
    is_asset = isinstance(key, tuple) and key[0] == "asset"
    return dtypes.string if is_asset else dtypes.resource


def resource_uses(graphs, assets=()):
    """What nodes of the graphs use, in order: id → (the use, dtype, sizes) of each variable,
    ``table_key(number)`` → None of each table, and so of each file of ``assets``."""
    found = {}
    for graph in graphs:
        for node, _ in graph.nodes():
            use = node.variable_use
            if use is not None and use[0] not in found:
                tensor = node.output(0) if node.num_outputs else node.inputs[0]
                found[use[0]] = use, tensor.dtype, sizes_of(tensor)
            if node.kind in TABLE_KINDS:
                found.setdefault(table_key(node.attrs["table"]), None)
            for key in (_asset_of(tensor, assets) for tensor in node.inputs):
                if key is not None:
                    found.setdefault(key, None)
            inside = (inner for _, inner, _ in node.inner_graphs)
            for key, item in resource_uses(inside, assets).items():
                found.setdefault(key, item)
        for key in (_asset_of(tensor, assets) for tensor in graph.outputs):
            if key is not None:
                found.setdefault(key, None)
    return found


def _likeness(node):
    """What nodes have in common that one function can stand for."""
    given = tuple((t.dtype.name, repr(sizes_of(t))) for t in node.inputs)
    return node.kind, repr(sorted(node.attrs.items())), given


@functools.cache
def _default_names():
    return table.default_names()


class FunctionWriter(Writer):
    """Adds the nodes of a function's graph, which have no names of their own, to a message."""

    def __init__(self, message, library, add_shapes=False):
        super().__init__(message, library, add_shapes)
        self._stateful = []  # nodes that run whether or not somebody looks at them
        self._is_composing = False  # what is written stands for one op of ours

    def is_argument(self, tensor, name, node=None):
        """Says under what name an input of the graph is found, and which node makes it."""
        maker = _tidemark.node_of(tensor)
        self.give(maker, 0, name)
        self.is_made_by(maker, node)

    def is_resource(self, key, name):
        """Says under what name a variable or table that the function is given is found."""
        self._variables[key] = name

    def argument_for(self, constant):
        return self._variables.get(_asset_of(constant, self.library.assets))

    def reference(self, tensor, name):
        given = self.argument_for(tensor)
        return super().reference(tensor, name) if given is None else given

    def declare(self, name, dtype, shape):
        label = self.fresh(f"{name}/resource")
        self.add(label, "Placeholder", (), {"dtype": dtypes.resource, "shape": []})
        attr = self.message.node[-1].attr  # what the resource holds
        set_attr(attr["_handle_dtypes"], "list(type)", [dtype])
        set_attr(attr["_handle_shapes"], "list(shape)", [shape])
        return label

    def _composed(self, node, label):
        """Where it is to be told again which op of ours it was, several nodes are a function."""
        if not self.library.keeps_ours or self._is_composing:
            return super()._composed(node, label)
        key = _likeness(node)
        name = self.library.composed.get(key)
        if name is None:
            name = self._write_composed(node)
            if name is None:
                return False
            self.library.composed[key] = name
        inputs = [self.reference(t, f"{label}/input_{at}") for at, t in enumerate(node.inputs)]
        made = [node.output(i).dtype for i in range(node.num_outputs)]
        given = [t.dtype for t in node.inputs]
        self.add(label, "PartitionedCall", inputs, {"Tin": given, "Tout": made, "f": name})
        attr = self.message.node[-1].attr
        set_attr(attr["_tidemark_op"], "string", node.kind)
        for own, value in node.attrs.items():
            if value is not None:
                kind, value = plain_attr(value)
                exact = ("string", repr(value)) if kind == "float" else (kind, value)
                set_attr(attr[f"_tidemark_{own}"], *exact)
        return self.outputs(node, label)

    def _write_composed(self, node):
        """A function of the library that does what the node does; its name. None: there is none."""
        from tidemark._v1.graph import Graph  # loaded on first use

        body = Body(self, f"tidemark_{node.kind}", [t.dtype for t in node.inputs], [])
        body.writer._is_composing = True
        graph = Graph()
        with graph.as_default():
            inner = [_tidemark.placeholder(t.dtype, t.shape) for t in node.inputs]
        for tensor, argument in zip(inner, body.arguments, strict=True):
            body.writer.give(_tidemark.node_of(tensor), 0, argument)
        inside = types.SimpleNamespace(
            kind=node.kind, attrs=node.attrs, inputs=inner, output=node.output,
            num_outputs=node.num_outputs, sequence=node.sequence,
        )  # fmt: skip
        if not body.writer._composed(inside, body.writer.fresh(node.kind)):
            self.library.remove(body.function)
            return None
        outputs = range(node.num_outputs)
        results = [body.writer._names[(node.sequence, index)] for index in outputs]
        body.finish(results, [node.output(index).dtype for index in outputs])
        return body.name

    def label_of(self, node):
        if node.label:
            return self.fresh(node.label)
        if node.variable_use is not None:
            return self.fresh(table.type_of(node).rpartition(">")[2])
        return self.fresh(_default_names().get(node.kind, node.kind))

    def write_graph(self, graph):
        nodes = graph.nodes()
        for node, after in nodes:
            if (node.sequence, -1) in self._names:
                continue  # an argument
            self.write(node, [nodes[at][0] for at in after])
            if is_stateful(node):
                self._stateful.append(node)

    def write_results(self, outputs):
        """Writes what gives the results; their names."""
        before = []
        if self._stateful:
            control = dict.fromkeys(self._names[(node.sequence, -1)] for node in self._stateful)
            before = [self.add(self.fresh("NoOp"), "NoOp", control=list(control))]
        names = []
        for tensor in outputs:
            name = self.fresh("Identity")
            given = self.reference(tensor, f"{name}/input")
            self.add(name, "Identity", [given], None, [tensor.dtype], before)
            names.append(name)
        return names


# --- functions of the library --------------------------------------------------------------------


class Body:
    """A function of the library on its way: what it takes, its nodes, what it gives."""

    def __init__(self, writer, name, types, resources):
        """``resources``: keys of ``resource_uses`` that it takes behind its own inputs."""
        self.function = writer.library.add(name)
        self.types = [*types, *map(handle_dtype, resources)]
        self.arguments = [f"input_{at}" for at in range(len(self.types))]
        self.writer = FunctionWriter(GraphDef(), writer.library)
        for argument in self.arguments:
            self.writer.fresh(argument)
        for key, name in zip(resources, self.arguments[len(types) :], strict=True):
            self.writer.is_resource(key, name)

    name = property(lambda self: self.function.signature.name)

    def write(self, graph, places):
        """The nodes of a graph whose inputs are the arguments at these places; its results."""
        for tensor, at in zip(graph.inputs, places, strict=True):
            self.writer.is_argument(tensor, self.arguments[at])
        self.writer.write_graph(graph)
        return graph.outputs

    def finish(self, results, types):
        """``results``: names of nodes or arguments; ``types``: their dtypes."""
        signature = self.function.signature
        for name, dtype in zip(self.arguments, self.types, strict=True):
            signature.input_arg.add(name=name, type=dtype.as_datatype_enum)
        nodes = {node.name: node for node in self.writer.message.node}
        for at, (result, dtype) in enumerate(zip(results, types, strict=True)):
            signature.output_arg.add(name=f"output_{at}", type=dtype.as_datatype_enum)
            self.function.ret.add(key=f"output_{at}", value=_inside(nodes, result))
        for node in self.writer.message.node:
            made = self.function.node_def.add()
            made.CopyFrom(node)
            made.ClearField("input")
            made.input.extend(_inside(nodes, reference) for reference in node.input)
        for node in self.writer._stateful:
            name = self.writer._names[(node.sequence, -1)]
            self.function.control_ret.add(key=name, value=name)
            signature.control_output.append(name)
        signature.is_stateful = bool(self.writer._stateful)


def _inside(nodes, reference):
    """``node:2`` as functions write it: ``node:output:0``, by the names of the op's outputs."""
    name, _, number = reference.partition(":")
    if reference.startswith("^") or name not in nodes:
        return reference
    at = int(number or 0)
    definition = op_defs.find(nodes[name].op)
    for output in definition.outputs if definition is not None else ():
        attr = nodes[name].attr
        count = len(attr[output.kind].list.type) if output.is_list else 1
        count = attr[output.number].i if output.number else count
        if at < count:
            return f"{name}:{output.name}:{at}"
        at -= count
    return f"{name}:output:{at}"


def _given(writer, node, label, tensors):
    """References to tensors and to the variables and tables that inner graphs use, and of what
    kind."""
    references = [writer.reference(t, f"{label}/input_{i}") for i, t in enumerate(tensors)]
    handles = {}
    inside = (graph for _, graph, _ in node.inner_graphs)
    for key, use in resource_uses(inside, writer.library.assets).items():
        handle = writer.table(key) if use is None else writer.variable(*use)
        if handle is not None:
            handles[key] = handle
    return references, [t.dtype for t in tensors], list(handles.values()), list(handles)


def _name_of(node, label, what):
    """What a part of a node is called. Whoever reads several graphs keeps all their functions in
    one place, so the name is used in no other graph."""
    return f"{label}_{what}_{node.sequence}".replace("/", "_")


def _shapes_and_types(node):
    outputs = [node.output(i) for i in range(node.num_outputs)]
    return [sizes_of(t) for t in outputs], [t.dtype for t in outputs]


@writes("cond")
def _branch(writer, node, label):
    chosen = node.inputs[0]
    given, types, handles, resources = _given(writer, node, label, node.inputs[1:])
    is_bool = chosen.dtype == dtypes.bool
    names = []
    for number, (_, graph, captured) in enumerate(node.inner_graphs):
        what = ("false", "true")[number] if is_bool else f"branch{number}"
        body = Body(writer, _name_of(node, label, what), types, resources)
        outputs = body.write(graph, [at - 1 for at in captured])
        body.finish(body.writer.write_results(outputs), [t.dtype for t in outputs])
        names.append(body.name)
    shapes, made = _shapes_and_types(node)
    attrs = {"Tin": [*types, *map(handle_dtype, resources)], "Tout": made,
             "output_shapes": shapes}  # fmt: skip
    if is_bool:
        op = "If"
        attrs |= {"Tcond": chosen.dtype, "else_branch": names[0], "then_branch": names[1]}
    else:
        op = "Case"
        attrs["branches"] = names
    prefix = "" if is_stateful(node) else "Stateless"
    index = writer.reference(chosen, f"{label}/branch_index")
    writer.add(label, prefix + op, [index, *given, *handles], attrs)
    writer.is_made_by(node, label)
    for at, dtype in enumerate(made):
        name = writer.fresh(f"{label}/Identity")
        reference = f"{label}:{at}" if at else label
        writer.give(node, at, writer.add(name, "Identity", [reference], None, [dtype]))
    return True


_COUNTERS = [dtypes.int32, dtypes.int32]  # rounds so far, most rounds


@writes("while")
def _loop(writer, node, label):
    count = node.num_outputs
    # Between the values of a round and what is captured stand the most rounds.
    tensors = [*node.inputs[:count], *node.inputs[count + 1 :]]
    most = _tidemark.static_value(node.inputs[count])
    given, types, handles, resources = _given(writer, node, label, tensors)
    (_, condition, of_condition), (_, round_, of_round) = node.inner_graphs
    types = [*_COUNTERS, *types]
    shift = [at + 2 if at < count else at + 1 for at in range(len(node.inputs))]
    own = list(range(2, count + 2))

    asks = Body(writer, _name_of(node, label, "cond"), types, resources)
    (going_on,) = asks.write(condition, [*own, *[shift[at] for at in of_condition]])
    answer = asks.writer.reference(going_on, "going_on")
    if most is None or int(most) >= 0:
        within = asks.writer.add(asks.writer.fresh("Less"), "Less", asks.arguments[:2], None,
                                 _COUNTERS)  # fmt: skip
        answer = asks.writer.add(asks.writer.fresh("LogicalAnd"), "LogicalAnd", [within, answer])
    result = asks.writer.add(asks.writer.fresh("Identity"), "Identity", [answer], None,
                             [dtypes.bool])  # fmt: skip
    asks.finish([result], [dtypes.bool])

    body = Body(writer, _name_of(node, label, "body"), types, resources)
    outputs = body.write(round_, [*own, *[shift[at] for at in of_round]])
    one = body.writer.constant("one", 1, dtypes.int32)
    counted = body.writer.add(body.writer.fresh("add"), "AddV2", [body.arguments[0], one], None,
                              _COUNTERS)  # fmt: skip
    results = [counted, body.arguments[1], *body.writer.write_results(outputs),
               *body.arguments[count + 2 :]]  # fmt: skip
    body.finish(results, body.types)

    zero = writer.constant(f"{label}/loop_counter", 0, dtypes.int32)
    limit = _most_rounds(writer, node, label, most)
    shapes = [[], [], *[sizes_of(node.output(i)) for i in range(count)],
              *[sizes_of(t) for t in node.inputs[count + 1 :]], *[[] for _ in handles]]  # fmt: skip
    writer.add(label, "While" if is_stateful(node) else "StatelessWhile",
               [zero, limit, *given, *handles],
               {"T": body.types, "cond": asks.name, "body": body.name, "output_shapes": shapes,
                "parallel_iterations": 10})  # fmt: skip
    for at in range(count):
        writer.give(node, at, f"{label}:{at + 2}")
    return True


def _most_rounds(writer, node, label, most):
    name = f"{label}/maximum_iterations"
    if most is not None:
        return writer.constant(name, int(most), dtypes.int32)
    tensor = node.inputs[node.num_outputs]
    return writer.add(writer.fresh(name), "Cast", [writer.reference(tensor, name)],
                      {"DstT": dtypes.int32}, [tensor.dtype])  # fmt: skip
