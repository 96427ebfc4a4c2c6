"""What TensorFlow's operations look like: ``op_defs.tsv``, by ``tools/record_op_defs.py``."""

from __future__ import annotations

import ast
import functools
import pathlib

from tidemark import dtypes
from tidemark._proto.framework import DataType, OpDef


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
def _all():
    text = (pathlib.Path(__file__).parent / "op_defs.tsv").read_text()
    return {made.name: made for made in map(Definition, text.splitlines())}


def find(name):
    """The definition of an operation; None."""
    return _all().get(name)


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
