"""Calls of TensorFlow's operations by their definitions: ``tf.raw_ops``, ``Graph.create_op``.

run("AddV2", {"x": a, "y": b}, {})          # the outputs, a list
function("AddV2")                           # tf.raw_ops.AddV2, with TensorFlow's signature
"""

from __future__ import annotations

import collections
import functools
import inspect
import types

from tidemark import dtypes
from tidemark._graph.operation import Operation
from tidemark._graph.symbolic import operation_of
from tidemark._proto.framework import AttrValue
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import Tensor
from tidemark._v1.graph_def import op_defs, table, values
from tidemark._v1.graph_def.importing import Call, make_by_rule
from tidemark._v1.graph_def.readers import NEEDS_GRAPH, READERS
from tidemark.errors import InvalidArgumentError

# What functions call some inputs and attributes that definitions have under another name.
_RENAMED = {"reduction_indices": "axis", "split_dim": "axis", "squeeze_dims": "axis"}
_RENAMED_IN = {"ReduceJoin": {}, "SparseSplit": {}, "ExpandDims": {"dim": "axis"},
               "Select": {"t": "x", "e": "y"}, "Where": {"input": "condition"}}  # fmt: skip


class _RawCall(Call):
    """An operation on its way whose attributes are Python values."""

    def __init__(self, definition, inputs, attrs):
        node = types.SimpleNamespace(op=definition.name, name=definition.name, attr=attrs)
        super().__init__(None, node, definition, inputs)

    def attr(self, name):
        if name in self.node.attr:
            return self.node.attr[name]
        return self.definition.attrs[name].default

    def fail(self, text):
        raise InvalidArgumentError(None, None, f"[{self.node.op}] {text}")


def is_computed(name):
    """Whether there is something here that does what the operation does."""
    if name in NEEDS_GRAPH or (name not in READERS and table.rule_by_theirs(name) is None):
        return False
    return op_defs.find(name) is not None


def _inferred(definition):
    """The attributes that inputs tell: their dtypes and how many there are."""
    return {a.kind for a in definition.inputs} | {a.number for a in definition.inputs if a.number}


def _attribute(definition, name, value):
    kind = definition.attrs[name].kind
    if kind == "type":
        return dtypes.as_dtype(value)
    if kind == "list(type)":
        return [dtypes.as_dtype(item) for item in value]
    if kind == "bool":
        return bool(value)
    if kind in ("int", "float"):
        return int(value) if kind == "int" else float(value)
    if kind == "string" and isinstance(value, bytes):
        return value.decode()
    return value


def _tensor(argument, definition, attrs, value):
    """The value as the input takes it; its dtype becomes the attribute's."""
    if argument.is_list:
        return convert_to_tensor(value)
    wanted = attrs.get(argument.kind)
    if argument.kind not in definition.attrs:
        wanted = (
            None if argument.kind in ("resource", "variant") else dtypes.as_dtype(argument.kind)
        )
    given = value if isinstance(value, Tensor) else convert_to_tensor(value, dtype=wanted)
    if wanted is not None and given.dtype != wanted:
        raise InvalidArgumentError(
            None, None,
            f"cannot compute {definition.name} as input '{argument.name}' was expected to be a "
            f"{wanted.name} tensor but is a {given.dtype.name} tensor [Op:{definition.name}]",
        )  # fmt: skip
    if argument.kind in definition.attrs:
        attrs[argument.kind] = given.dtype
    return given


def _inputs(definition, given, attrs):
    """All tensors, in the order of the definition; what they tell joins the attributes."""
    out = []
    # Tensors first: numbers take their dtype.
    order = sorted(definition.inputs, key=lambda a: not isinstance(given[a.name], Tensor))
    made = {}
    for argument in order:
        value = given[argument.name]
        if argument.number or argument.is_list:
            made[argument.name] = [_tensor(argument, definition, attrs, v) for v in value]
            if argument.number:
                attrs[argument.number] = len(made[argument.name])
            else:
                attrs[argument.kind] = [t.dtype for t in made[argument.name]]
        else:
            made[argument.name] = [_tensor(argument, definition, attrs, value)]
    for argument in definition.inputs:
        out += made[argument.name]
    return out


def run(name, inputs, attrs):
    """The outputs of an operation: ``inputs`` and ``attrs`` by TensorFlow's names."""
    definition = op_defs.find(name)
    attrs = {key: _attribute(definition, key, value) for key, value in attrs.items()}
    call = _RawCall(definition, _inputs(definition, inputs, attrs), attrs)
    made = (READERS.get(name) or make_by_rule)(call)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _grouped(definition, flat, attrs):
    """A list of inputs by the names of the definition's; a list takes all that others leave."""
    lists = [a for a in definition.inputs if a.number or a.is_list]
    out, at = {}, 0
    for argument in definition.inputs:
        if argument not in lists:
            if at >= len(flat):
                raise ValueError(
                    f"{definition.name} takes the inputs "
                    f"{', '.join(a.name for a in definition.inputs)}; {len(flat)} were given"
                )
            out[argument.name], at = flat[at], at + 1
            continue
        count = attrs.get(argument.number) if argument.number else len(attrs.get(argument.kind, ()))
        count = count or len(flat) - (len(definition.inputs) - 1)
        out[argument.name], at = flat[at : at + count], at + count
    return out


def create(graph, name, inputs, attrs, label):
    """An operation of the graph: attributes are messages, or the values themselves."""
    definition = op_defs.find(name)
    if definition is None or (name not in READERS and table.rule_by_theirs(name) is None):
        raise RuntimeError(f"Op type not registered '{name}' in binary running here")
    known = {
        key: values.get_attr(value, definition.attrs[key].kind, f"attr '{key}'")
        if isinstance(value, AttrValue) or hasattr(value, "WhichOneof")
        else value
        for key, value in attrs.items()
        if key in definition.attrs
    }
    made = run(name, _grouped(definition, inputs, known), known)
    first = made[0] if made else None
    operation = first if isinstance(first, Operation) else operation_of(first)
    graph.label(operation, (label or name).rstrip("/"))
    return operation


def _packed(definition, outputs):
    """One output as it is, several under their names."""
    lists = any(argument.number or argument.is_list for argument in definition.outputs)
    if lists and (len(definition.outputs) == 1 or len(outputs) != len(definition.outputs)):
        return outputs
    if len(definition.outputs) <= 1:
        return outputs[0] if outputs else None
    return _record(definition.name, tuple(a.name for a in definition.outputs))(*outputs)


@functools.cache
def _record(name, fields):
    return collections.namedtuple(name, fields)


def _signature(definition):
    """TensorFlow's: inputs and attributes without a default first, keywords alone."""
    inferred = _inferred(definition)
    attrs = [a for a in definition.attrs.values() if a.name not in inferred]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD  # as it is shown there, though only by keyword
    required = [*definition.inputs, *(a for a in attrs if not a.has_default)]
    parameters = [inspect.Parameter(_shown(definition, a.name), kind) for a in required]
    parameters += [
        inspect.Parameter(_shown(definition, a.name), kind, default=_short(a.default))
        for a in attrs
        if a.has_default
    ]
    parameters.append(inspect.Parameter("name", kind, default=None))
    return inspect.Signature(parameters)


def _shown(definition, name):
    return _RENAMED_IN.get(definition.name, _RENAMED).get(name, name)


def _short(value):
    """A default as it was written: definitions keep floats of single precision."""
    return float(f"{value:.7g}") if isinstance(value, float) else value


def function(name):
    """The function that calls the operation, with keywords alone."""
    definition = op_defs.find(name)

    def computed(**given):
        inputs = {argument.name: given.pop(argument.name) for argument in definition.inputs}
        return run(name, inputs, given)

    return keyword_function(name, computed)


def keyword_function(name, computed):
    """A function with the operation's signature: ``computed`` gets all by the definition's names.

    It gives the outputs: one, or several in a list, which get their names here.
    """
    definition = op_defs.find(name)
    signature = _signature(definition)
    inferred = _inferred(definition)
    attrs = [own for own in definition.attrs if own not in inferred]
    own_names = [*(a.name for a in definition.inputs), *attrs]
    taken = {_shown(definition, own): own for own in own_names}

    def raw_op(**given):
        bound = signature.bind(**given)
        bound.apply_defaults()
        made = computed(**{own: bound.arguments[shown] for shown, own in taken.items()})
        return _packed(definition, list(made) if isinstance(made, (list, tuple)) else [made])

    raw_op.__name__ = raw_op.__qualname__ = name
    raw_op.__signature__ = signature
    raw_op.__doc__ = f"TensorFlow's operation {name}."
    return raw_op
