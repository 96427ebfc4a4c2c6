"""``tf.print``: prints values when they are there, in the order of the program."""

from __future__ import annotations

import sys

import numpy as np

from tidemark import nest
from tidemark._export import export
from tidemark._graph.scopes import get_logger, is_building_for_sessions
from tidemark._graph.tracing import is_tracing
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.specs import CompositeTensor
from tidemark._tidemark import Tensor, VariableBase


def _number(value):
    """As C++ prints it: as short as it can be read back."""
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (np.float32, np.float64)):
        short, full = (6, 9) if isinstance(value, np.float32) else (15, 17)
        text = f"%.{short}g" % value
        return text if type(value)(text) == value or value != value else f"%.{full}g" % value
    if isinstance(value, np.complexfloating):
        part = np.float32 if isinstance(value, np.complex64) else np.float64
        return f"({_number(part(value.real))},{_number(part(value.imag))})"
    if isinstance(value, bytes):
        return '"' + value.decode(errors="backslashreplace") + '"'
    if isinstance(value, np.generic) and value.dtype.kind not in "iu":
        return f"{float(value):.6g}"
    return str(value)


def tensor_text(tensor, summarize=3):
    """The elements as TensorFlow prints them; of long dimensions the first and last few."""
    array = np.asarray(tensor.numpy())
    if array.ndim == 0:
        return _number(array[()])
    most = 3 if summarize is None else summarize

    def part(block, depth):
        count, rest = len(block), array.ndim - depth - 1
        between = " " if rest == 0 else "\n" * rest + " " * (depth + 1)
        one = (lambda i: _number(block[i])) if rest == 0 else (lambda i: part(block[i], depth + 1))
        if most < 0 or count <= 2 * most:
            items = [one(i) for i in range(count)]
        else:
            items = [one(i) for i in range(most)]
            items += ["..."] + [one(i) for i in range(count - most, count)]
        return "[" + between.join(items) + "]"

    return part(array, 0)


def _is_value(leaf):
    return isinstance(leaf, (Tensor, VariableBase, CompositeTensor)) or hasattr(
        leaf, "__tf_tensor__"
    )


def _text(value, texts, is_inside=False):
    """A structure as Python shows it, with the given texts in place of its tensors."""
    if _is_value(value):
        return next(texts)
    if isinstance(value, dict):
        items = (f"{key!r}: {_text(item, texts, True)}" for key, item in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        items = (
            f"{name}={_text(item, texts, True)}"
            for name, item in zip(value._fields, value, strict=True)
        )
        return f"{type(value).__name__}({', '.join(items)})"
    if isinstance(value, (list, tuple)):
        items = [_text(item, texts, True) for item in value]
        if isinstance(value, list):
            return "[" + ", ".join(items) + "]"
        return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"
    return repr(value) if is_inside and isinstance(value, str) else str(value)


def _leaves(value, found):
    if _is_value(value):
        found.append(value)
    elif isinstance(value, dict):
        for item in value.values():
            _leaves(item, found)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _leaves(item, found)


def _composite_text(value, parts, summarize):
    spec = value._type_spec
    values = [tensor_text(p, summarize) for p in parts]
    kind = type(value).__name__
    if kind == "SparseTensor":
        return f"'SparseTensor(indices={values[0]}, values={values[1]}, shape={values[2]})'"
    components = nest.pack_sequence_as(spec._component_specs, parts)
    return str(spec._from_components(components))


def _write(text, stream):
    if isinstance(stream, str) and stream.startswith("file://"):
        with open(stream[len("file://") :], "a", encoding="utf-8") as file:
            file.write(text)
        return
    if callable(stream) and not hasattr(stream, "write"):
        stream(text.rstrip("\n"))  # a function of the logging module
        return
    stream.write(text)
    stream.flush()


def _stream(given):
    """The stream itself, or what finds it when something is printed."""
    if given is None or given is sys.stderr:
        return lambda: sys.stderr
    if given is sys.stdout:
        return lambda: sys.stdout
    if isinstance(given, str):
        if given.startswith("file://"):
            return lambda: given
        levels = {"tf.logging.info": "info", "tf.logging.warning": "warning"}
        if given in levels:
            return lambda: getattr(get_logger(), levels[given])
    if hasattr(given, "write") or callable(given):
        return lambda: given
    raise ValueError(
        f"Unsupported output stream, logging level, or file. {given}. Allowed are sys.stdout, "
        "sys.stderr, functions of the logging module and file://<path>."
    )


@export("tf.print")
def print(*inputs, **kwargs):
    """Prints the values of tensors, structures and Python objects, by default to stderr."""
    options = {"output_stream": None, "end": "\n", "sep": " ", "summarize": 3, "name": None}
    unknown = set(kwargs) - set(options)
    if unknown:
        raise ValueError(
            f"Unrecognized keyword arguments for tf.print: {sorted(unknown)}; allowed are "
            f"{sorted(options)}"
        )
    options.update(kwargs)
    summarize, stream = options["summarize"], _stream(options["output_stream"])
    found = []
    _leaves(list(inputs), found)
    tensors, counts = [], []
    for leaf in found:
        parts = (
            nest.flatten(leaf._type_spec._to_components(leaf))
            if isinstance(leaf, CompositeTensor)
            else [convert_to_tensor(leaf)]
        )
        tensors += parts
        counts.append((leaf if isinstance(leaf, CompositeTensor) else None, len(parts)))

    def write(*values):
        texts, at = [], 0
        for composite, count in counts:
            parts = values[at : at + count]
            at += count
            texts.append(
                tensor_text(parts[0], summarize)
                if composite is None
                else _composite_text(composite, parts, summarize)
            )
        texts = iter(texts)
        line = options["sep"].join(_text(value, texts) for value in inputs)
        _write(line + options["end"], stream())

    if is_tracing():
        from tidemark._graph import staged  # only graphs need it

        staged.effect(write, *tensors)
    else:
        write(*tensors)


@export("tf.group")
def group(*inputs, **kwargs):
    """Stands for several operations; they run where they were called."""
    unknown = set(kwargs) - {"name"}
    if unknown:
        raise ValueError(f"Unknown keyword arguments: {', '.join(sorted(unknown))}")
    sessions = _building_for_sessions()
    return None if sessions is None else sessions.group(*inputs, **kwargs)


@export("tf.no_op")
def no_op(name=None):
    """Does nothing."""
    sessions = _building_for_sessions()
    return None if sessions is None else sessions.no_op(name)


def _building_for_sessions():
    """What makes operations of a graph of sessions, if one is built here; only then are there
    operations to be run by themselves."""
    if not is_building_for_sessions():
        return None
    from tidemark._v1 import scopes  # few programs build such graphs

    return scopes
