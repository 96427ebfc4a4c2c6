"""What TensorFlow's operations look like: the library's table (``tools/record_op_defs.py``)."""

from __future__ import annotations

import ast
import functools

from tidemark import _tidemark, dtypes
from tidemark._proto.framework import DataType, OpDef
from tidemark._v1.graph_def import table


class Argument:
    """An input or an output: ``x:T``, ``x:N*T`` or ``x:[T]``."""

    __slots__ = ("name", "kind", "number", "is_list")

    def __init__(self, text):
        self.name, _, kind = text.partition(":")
        self.is_list = kind.startswith("[")
        self.number, _, self.kind = kind.strip("[]").rpartition("*")


class Attribute:
    __slots__ = ("name", "kind", "default")

    def __init__(self, text):
        self.name, _, rest = text.partition(":")
        self.kind, _, default = rest.partition("=")
        self.default = self._read(default) if "=" in rest else None

    def _read(self, text):
        if self.kind == "type":
            return dtypes.as_dtype(text)
        if self.kind == "shape":
            return "?" if text == "?" else []
        if self.kind == "list(type)":
            return [dtypes.as_dtype(item) for item in text.split(",") if item]
        if self.kind == "float":
            return float(text)  # "inf", too
        if self.kind.startswith("list"):
            return [ast.literal_eval(item) for item in text.split(",") if item]
        return ast.literal_eval(text)

    has_default = property(lambda self: self.default is not None)


class Definition:
    """One operation of TensorFlow's."""

    __slots__ = ("name", "inputs", "outputs", "attrs")

    def __init__(self, line):
        self.name, inputs, outputs, attrs = line.rstrip("\n").split("\t")
        self.inputs = [Argument(item) for item in inputs.split()]
        self.outputs = [Argument(item) for item in outputs.split()]
        self.attrs = {a.name: a for a in map(Attribute, attrs.split())}


@functools.cache
def recorded():
    """TensorFlow's operations by name: their lines, most of which nobody reads."""
    lines = _tidemark.tensorflow_ops().splitlines()
    return {line.partition("\t")[0]: line for line in lines}


@functools.cache
def _read(name):
    line = recorded().get(name)
    return None if line is None else Definition(line)


def find(name):
    """The definition of an operation; None."""
    return _read(name) or _of_library(name)


_KINDS = {"bool": "bool", "int": "int", "float": "float", "dtype": "type", "string": "string",
          "ints": "list(int)"}  # fmt: skip


def _of_library(name):
    """What an operation that a library of ops knows by TensorFlow's name looks like; None."""
    rule = table.rule_by_theirs(name)
    if rule is None:
        return None
    schema = _tidemark.op_schema(rule.ours)
    params = {param["name"]: param for param in schema["params"]}
    theirs = {ours: name for name, ours in rule.attrs.items()}
    inputs, types = [], []
    for item in rule.inputs:
        param = params[item.lstrip("@*")]
        letter = "int32" if item[0] == "@" else param["type_var"]
        inputs.append(f"{param['name']}:{'N*' if item[0] == '*' else ''}{letter}")
        if item[0] != "@" and f"{letter}:type" not in types:
            types.append(f"{letter}:type")
    outputs = [f"{out['name']}:{_type_of(out, params, theirs)}" for out in schema["outputs"]]
    attrs = [_attr_text(theirs[ours], params[ours]) for ours in theirs]
    counts = ["N:int"] if any(item[0] == "*" for item in rule.inputs) else []
    return Definition("\t".join((name, *map(" ".join, (inputs, outputs, attrs + types + counts)))))


def _type_of(output, params, theirs):
    """The letter of the input that an output is like, a dtype, or an attribute."""
    if output["type"] in ("like", "real_of"):
        return params[output["of"]]["type_var"]
    if output["type"] == "from_attr":
        return theirs.get(output["of"], output["of"])
    return dtypes.as_dtype(output["dtype"]).name if output["type"] == "fixed" else "T"


def _attr_text(name, param):
    kind, default = _KINDS[param["type"]], param["default"]
    if param["required"] or default is None or kind == "type":
        return f"{name}:{kind}"
    text = ",".join(map(str, default)) if kind == "list(int)" else repr(default)
    return f"{name}:{kind}={text}" if " " not in text else f"{name}:{kind}"


def _fill_argument(message, argument, definition):
    message.name = argument.name
    if argument.is_list:
        message.type_list_attr = argument.kind
        return
    if argument.kind in definition.attrs:
        message.type_attr = argument.kind
    else:
        message.type = DataType.DT_RESOURCE if argument.kind == "resource" else dtypes.as_dtype(
            argument.kind
        ).as_datatype_enum  # fmt: skip
    if argument.number:
        message.number_attr = argument.number


def op_def_message(name):
    """The definition as TensorFlow's message; an empty one for operations of our own."""
    made = OpDef(name=name)
    definition = find(name)
    if definition is None:
        return made
    for argument in definition.inputs:
        _fill_argument(made.input_arg.add(), argument, definition)
    for argument in definition.outputs:
        _fill_argument(made.output_arg.add(), argument, definition)
    for attr in definition.attrs.values():
        made.attr.add(name=attr.name, type=attr.kind)
    return made
