"""``tf.import_graph_def``: the nodes of TensorFlow's ``GraphDef`` as operations of this graph."""

from __future__ import annotations

import contextlib
import re

from tidemark import _tidemark
from tidemark._graph import scopes
from tidemark._proto.framework import FunctionDef, GraphDef, NodeDef
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import Tensor
from tidemark._v1 import naming
from tidemark._v1.graph import Operation, current_place, dependencies
from tidemark._v1.graph_def import dataset_nodes, op_defs, table, values
from tidemark._v1.graph_def.readers import (
    CALLS_FUNCTIONS,
    READERS,
    TAKES_VARIABLE,
    VariableHandle,
)
from tidemark.errors import InvalidArgumentError, NotFoundError, OpError, UnimplementedError

_ALL_READERS = {**READERS, **dataset_nodes.READERS}
_SAME_AS = {"_EagerConst": "Identity"}  # of a tensor that a function found outside of it
_REFERENCE = re.compile(r"^(\^?)([^:^]+)(?::(\d+))?$")


class _Failed(ValueError):
    """Something is wrong with a node; the message names it."""


def _fail(node, text):
    raise _Failed(f"{text}; {{{{node {node.name}}}}} = {node.op}[]")


class Call:
    """One node on its way: its inputs and attributes, checked against TensorFlow's definition."""

    def __init__(self, reader, node, definition, inputs):
        self.reader, self.node, self.definition, self.inputs = reader, node, definition, inputs

    def attr(self, name):
        """The attribute's value, or its default."""
        message, expected = self.node.attr.get(name), self.definition.attrs[name]
        if message is None:
            if not expected.has_default:
                _fail(self.node, f"NodeDef missing attr '{name}' from Op<name={self.node.op}>")
            return expected.default
        value = values.get_attr(message, expected.kind, f"attr '{name}' of node '{self.node.name}'")
        if expected.kind == "string" and isinstance(value, bytes):
            return value.decode("utf-8", "backslashreplace")
        return value

    def static(self, index):
        """The value of an input that is known without running."""
        found = _tidemark.static_value(self.inputs[index])
        if found is None:
            name = self.definition.inputs[index].name
            raise UnimplementedError(
                None, None, f"input '{name}' of node '{self.node.name}' ({self.node.op}) has to be "
                "a constant here; it is computed in the graph"
            )  # fmt: skip
        return found.numpy() if hasattr(found, "numpy") else found

    def fail(self, text):
        _fail(self.node, text)

    def call_function(self, function_name, arguments):
        return self.reader.call_function(self.node, function_name, arguments)


class Reader:
    """Makes the operations of one message."""

    def __init__(self, graph_def, place, prefix):
        self.place, self.prefix, self.library = place, prefix, {}
        for function in graph_def.library.function:
            self.library[function.signature.name] = function
        self._functions = []  # being read now, to find those that call themselves

    # --- one node ----------------------------------------------------------------------------

    def build(self, node, inputs, before, name=None):
        """The outputs of a node; named where it is one of the graph."""
        if node.op in _SAME_AS:
            node = NodeDef.FromString(node.SerializeToString())
            node.op = _SAME_AS[node.op]
        definition = op_defs.find(node.op)
        if node.op.startswith("Tidemark>"):
            make = _ours
        elif definition is None or (
            node.op not in _ALL_READERS and not table.rule_by_theirs(node.op)
        ):
            if node.op in self.library:
                return self.call_function(node, node.op, inputs)
            raise NotFoundError(
                None, None, f"Op type not registered '{node.op}' in binary running here. It is the "
                f"op of node '{node.name}'; it may be from another version or a custom op"
            )  # fmt: skip
        else:
            make = _ALL_READERS.get(node.op) or make_by_rule
        inputs = [self._readable(node, definition, i, item) for i, item in enumerate(inputs)]
        call = Call(self, node, definition, inputs)
        if definition is not None:
            self._check(call)
        try:
            with contextlib.ExitStack() as stack:
                # Inside of a branch or a loop effects stay in the order in which they are made.
                if before and current_place() is not None:
                    stack.enter_context(dependencies(before))
                scope = None
                if name is not None:
                    scope = naming.scope_for(self.place, name + "/", ("",), True)
                    stack.enter_context(scope)
                made = make(call)
                made = made if isinstance(made, list) else [made]
        except (_Failed, NotFoundError, UnimplementedError):
            raise
        except (ValueError, TypeError, OpError, OverflowError, MemoryError) as error:
            _fail(node, str(error) or type(error).__name__)
        if scope is not None:
            made = self._named(scope, made, name)
        return made

    @staticmethod
    def _readable(node, definition, index, item):
        """The value of a variable where a node takes values."""
        if not isinstance(item, VariableHandle):
            return item
        arguments = definition.inputs if definition is not None else []
        if index < len(arguments) and arguments[index].kind == "resource":
            return item
        if index == 0 and node.op in TAKES_VARIABLE or node.op in CALLS_FUNCTIONS:
            return item
        return item.variable._handle.read()

    def _named(self, scope, made, name):
        """The first output's operation gets the node's name, by an identity if it was there."""
        first = made[0] if made else None
        if isinstance(first, VariableHandle):
            self.place.graph._shared.unique_name(name)
            self.place.graph.know(name, first.variable._reading)
        elif isinstance(first, Operation):
            self.place.graph._shared.unique_name(name)
            first._node.label = name
            with self.place.graph._lock:
                self.place.graph._named[name] = first
        elif isinstance(first, Tensor):
            sequence = _tidemark.node_of(first).sequence if _tidemark.is_symbolic(first) else -1
            if sequence < scope._start:
                with scope:
                    made = [_tidemark.call("identity", (first,)), *made[1:]]
            self.place.graph._shared.unique_name(name)
            scope.name(made)
        return made

    def _check(self, call):
        node, definition = call.node, call.definition
        for name in node.attr:
            if not name.startswith("_") and name not in definition.attrs:
                _fail(node, f"NodeDef mentions attr '{name}' not in Op<name={node.op}>")
        at = 0
        for argument in definition.inputs:
            if argument.number:
                count = call.attr(argument.number)
                if count < 0:
                    _fail(node, f"attr '{argument.number}' is {count}")
            elif argument.is_list:
                count = len(call.attr(argument.kind))
            else:
                count = 1
            for tensor in call.inputs[at : at + count]:
                self._check_type(call, argument, tensor)
            at += count
        if at != len(call.inputs):
            expected = ", ".join(a.name for a in definition.inputs)
            _fail(node, f"NodeDef expected inputs '{expected}' do not match {len(call.inputs)} "
                        "inputs specified")  # fmt: skip

    @staticmethod
    def _check_type(call, argument, tensor):
        if isinstance(tensor, VariableHandle) or argument.is_list:
            return
        if isinstance(tensor, Operation):
            call.fail(f"input '{argument.name}' comes from '{tensor.name}', which has no outputs")
        if argument.kind in call.definition.attrs:
            wanted = call.attr(argument.kind)
        else:
            wanted = argument.kind
        name = getattr(wanted, "name", wanted)
        if name != tensor.dtype.name:
            call.fail(f"Input '{argument.name}' for node '{call.node.name}' has type "
                      f"{tensor.dtype.name}; expected {name}")  # fmt: skip

    # --- functions ---------------------------------------------------------------------------

    def call_function(self, node, name, arguments):
        """The outputs of a function of the library, its nodes made here."""
        function = self.library.get(name)
        if function is None:
            raise NotFoundError(None, None, f"node '{node.name}' calls the function '{name}', "
                                "which the library does not have")  # fmt: skip
        if name in self._functions:
            _fail(node, f"the function '{name}' calls itself")
        self._functions.append(name)
        try:
            return _FunctionBody(self, function, arguments).run()
        finally:
            self._functions.pop()


class _FunctionBody:
    """One call of a function: its nodes refer to ``node:output:number`` and to its arguments."""

    def __init__(self, reader, function: FunctionDef, arguments):
        self._reader, self._function = reader, function
        expected = [arg.name for arg in function.signature.input_arg]
        if len(expected) != len(arguments):
            raise _Failed(f"function '{function.signature.name}' takes {len(expected)} arguments; "
                          f"{len(arguments)} are given")  # fmt: skip
        self._made = dict(zip(expected, arguments, strict=True))
        self._nodes = {node.name: node for node in function.node_def}
        self._outputs = {}

    def run(self):
        for name in in_order(
            self._function.node_def, lambda ref: ref.lstrip("^").partition(":")[0]
        ):
            node = self._nodes[name]
            inputs = [self._value(ref) for ref in node.input if not ref.startswith("^")]
            before = [self._before(ref[1:]) for ref in node.input if ref.startswith("^")]
            before = [item for item in before if item is not None]
            self._outputs[name] = self._reader.build(node, inputs, before)
        returned = {entry.key: entry.value for entry in self._function.ret}
        return [self._value(returned[arg.name]) for arg in self._function.signature.output_arg]

    def _before(self, name):
        made = self._outputs.get(name)
        return made[0] if made and isinstance(made[0], (Tensor, Operation)) else None

    def _value(self, reference):
        name, _, rest = reference.partition(":")
        if not rest and name in self._made:
            return self._made[name]
        if name in self._made and name not in self._outputs:
            return self._made[name]
        if name not in self._outputs:
            raise _Failed(f"'{reference}' in function '{self._function.signature.name}' refers to "
                          "nothing")  # fmt: skip
        output, _, number = rest.partition(":")
        made, at = self._outputs[name], int(number or 0)
        definition = op_defs.find(self._nodes[name].op)
        if definition is not None and output and len(definition.outputs) > 1:
            at += [a.name for a in definition.outputs].index(output)
        if at >= len(made):
            raise _Failed(f"'{reference}' refers to output {at} of a node with {len(made)}")
        return made[at]


# --- ops by the table ----------------------------------------------------------------------------


def _converted(value):
    return value.as_list() if hasattr(value, "as_list") else value


def make_by_rule(call):
    """An op that is just one of ours."""
    rule, given, attrs = table.rule_by_theirs(call.node.op), list(call.inputs), {}
    inputs, at = [], 0
    for argument, item in zip(call.definition.inputs, rule.inputs, strict=True):
        count = call.attr(argument.number) if argument.number else 1
        if item.startswith("@"):
            value = call.static(at)
            attrs[item[1:]] = value.tolist()
        elif item.startswith("*"):
            inputs.append(given[at : at + count])
        else:
            inputs.append(given[at])
        at += count
    for theirs, ours in rule.attrs.items():
        value = _converted(call.attr(theirs))
        if ours == "axis" and call.node.op == "Squeeze" and not value:
            value = None
        if ours == "seed" and not value:
            value = None
        attrs[ours] = value
    for name, value in attrs.items():  # one axis where a list is taken
        if name == "axis" and name in rule.listed and isinstance(value, int):
            attrs[name] = [value]
    schema = _tidemark.op_schema(rule.ours)
    order = [p["name"] for p in schema["params"] if p["kind"] != "attr"]
    by_name = dict(zip([i.lstrip("*") for i in rule.inputs if i[0] != "@"], inputs, strict=True))
    return _tidemark.call(rule.ours, tuple(by_name[name] for name in order), attrs)


def _ours(call):
    """An op of ours that TensorFlow does not have."""
    kind = call.node.op.partition(">")[2]
    schema = _tidemark.op_schema(kind)
    if schema is None:
        raise NotFoundError(None, None, f"Op type not registered '{call.node.op}': it is the op of "
                            f"node '{call.node.name}'")  # fmt: skip
    kinds = {"bool": "bool", "int": "int", "real": "float", "float": "float", "dtype": "type",
             "string": "string", "str": "string", "ints": "list(int)"}  # fmt: skip
    attrs = {}
    for param in schema["params"]:
        if param["kind"] == "attr" and param["name"] in call.node.attr:
            what = f"attr '{param['name']}' of node '{call.node.name}'"
            message = call.node.attr[param["name"]]
            value = values.get_attr(message, kinds[param["type"]], what)
            attrs[param["name"]] = value.decode() if isinstance(value, bytes) else value
    return _tidemark.call(kind, tuple(call.inputs), attrs)


# --- the graph -----------------------------------------------------------------------------------


def in_order(nodes, name_of):
    """The nodes' names, each after those it refers to. Raises for cycles."""
    by_name, waiting, users = {}, {}, {}
    for node in nodes:
        if node.name in by_name:
            raise _Failed(f"Node '{node.name}' is not unique")
        by_name[node.name] = node
    for node in nodes:
        needs = {name_of(ref) for ref in node.input} & by_name.keys()
        waiting[node.name] = len(needs)
        for need in needs:
            users.setdefault(need, []).append(node.name)
    ready = [node.name for node in reversed(nodes) if not waiting[node.name]]
    out = []
    while ready:
        name = ready.pop()
        out.append(name)
        for user in users.get(name, ()):
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    if len(out) < len(by_name):
        stuck = [name for name, count in waiting.items() if count]
        raise _Failed(f"{len(stuck)} nodes in a cycle, among them {', '.join(sorted(stuck)[:5])}")
    return out


def _parsed(node, reference):
    found = _REFERENCE.match(reference)
    if found is None:
        _fail(node, f"Invalid input reference '{reference}' of node '{node.name}'")
    return found.group(1) == "^", found.group(2), int(found.group(3) or 0)


class _Import:
    def __init__(self, graph_def, input_map, place, prefix):
        self._graph_def, self._place, self._prefix = graph_def, place, prefix
        self._reader = Reader(graph_def, place, prefix)
        self._map, self._used = input_map, set()
        self._made = {}

    def _is_taken(self, name):
        """Whether the graph has a node of this name; functions do not name theirs."""
        if self._place is None:
            return False
        return self._place.graph._shared.find(name) is not None

    def run(self):
        nodes = {node.name: node for node in self._graph_def.node}
        for node in self._graph_def.node:
            if not re.match(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$", node.name):
                _fail(node, f"Node '{node.name}': Node name contains invalid characters")
            if self._is_taken(self._prefix + node.name):
                raise _Failed(f"Node name '{self._prefix}{node.name}' already exists in the Graph")
        mapped = {key.partition(":")[0].lstrip("^") for key in self._map}
        for name in in_order(self._graph_def.node, lambda r: r.lstrip("^").partition(":")[0]):
            node = nodes[name]
            if name in mapped and not node.input and self._covers(name, node):
                continue
            self._add(node)
        unknown = self._map.keys() - self._used
        names = {f"{key}" for key in unknown if key.partition(":")[0].lstrip("^") not in nodes}
        if names:
            raise ValueError(
                "Attempted to map inputs that were not found in graph_def: "
                f"[{', '.join(sorted(names))}]"
            )
        return self._made

    def _covers(self, name, node):
        """A placeholder that stands for something else needs no operation."""
        return node.op.startswith("Placeholder") and (name in self._map or f"{name}:0" in self._map)

    def _add(self, node):
        inputs, before = [], []
        for reference in node.input:
            is_control, name, index = _parsed(node, reference)
            if is_control:
                item = self._control(node, name)
                if item is not None:
                    before.append(item)
            else:
                if before:
                    _fail(node, f"Control inputs come before the input '{reference}'")
                inputs.append(self._input(node, name, index))
        full = None if self._place is None else self._prefix + node.name
        self._made[node.name] = self._reader.build(node, inputs, before, full)

    def _control(self, node, name):
        if f"^{name}" in self._map:
            self._used.add(f"^{name}")
            return self._map[f"^{name}"]
        made = self._made.get(name)
        if made is None and name in self._map:
            return None
        if made is None:
            _fail(node, f"Node '{node.name}': Unknown input node '^{name}'")
        first = made[0] if made else None
        return first if isinstance(first, (Tensor, Operation)) else None

    def _input(self, node, name, index):
        for key in (f"{name}:{index}", name if index == 0 else None):
            if key in self._map:
                self._used.add(key)
                return self._map[key]
        made = self._made.get(name)
        if made is None:
            _fail(node, f"Node '{node.name}': Unknown input node '{name}'")
        if index >= len(made):
            _fail(node, f"Node '{node.name}': Connecting to invalid output {index} of source node "
                        f"{name} which has {len(made)} outputs")  # fmt: skip
        return made[index]


def _checked_message(graph_def):
    if isinstance(graph_def, GraphDef):
        return graph_def
    serialize = getattr(graph_def, "SerializeToString", None)
    if serialize is None:
        raise TypeError(f"Argument `graph_def` must be a GraphDef proto; given {type(graph_def)}")
    return GraphDef.FromString(serialize())


def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None,
                     producer_op_list=None):  # fmt: skip
    """Adds the nodes of a GraphDef to the graph, in the scope ``import`` unless told otherwise."""
    place = current_place()
    if place is None and not _tidemark.is_tracing():
        raise RuntimeError(
            "tf.import_graph_def needs a graph: use it in tf.Graph().as_default(), in a session or "
            "in a tf.function"
        )
    graph_def = _checked_message(graph_def)
    if place is not None:
        place.graph.check_not_finalized()
    if input_map is not None and not isinstance(input_map, dict):
        raise TypeError("Argument `input_map` must be a dictionary.")
    input_map = {
        key if isinstance(key, str) else key.decode(): value
        if isinstance(value, Operation)
        else convert_to_tensor(value)
        for key, value in (input_map or {}).items()
    }
    if name == "":
        prefix = ""
    else:
        outer = scopes.get_current_name_scope()
        base = name or "import"
        if base.endswith("/"):
            prefix = base
        else:
            full = f"{outer}/{base}" if outer else base
            prefix = (full if place is None else place.graph._shared.unique_name(full)) + "/"
    try:
        made = _Import(graph_def, input_map, place, prefix).run()
    except _Failed as error:
        raise ValueError(str(error)) from None
    except InvalidArgumentError as error:
        raise ValueError(error.message) from None
    if return_elements is None:
        return None
    graph = None if place is None else place.graph
    return [_element(graph, made, input_map, prefix, item) for item in return_elements]


def _element(graph, made, input_map, prefix, item):
    if not isinstance(item, str):
        raise TypeError("Argument `return_elements` must be a list of strings.")
    name, _, index = item.partition(":")
    if name not in made:
        for key in (item, f"{name}:0", name):
            if key in input_map:
                return input_map[key]
        raise ValueError(f"Requested return_element {item!r} not found in graph_def.")
    if not index and graph is None:
        return made[name][0].op
    if not index:
        return graph.get_operation_by_name(prefix + name)
    if int(index) >= len(made[name]):
        raise ValueError(
            f"Requested return_element {item!r}: {name!r} has {len(made[name])} outputs"
        )
    return made[name][int(index)]
