"""Writes what TensorFlow's operations look like: all of ``tf.raw_ops``.

Run with a Python that has TensorFlow:  python tools/record_op_defs.py
A line: the operation, its inputs, its outputs, its attributes with their defaults. ``x:T`` has the
dtype of attribute T, ``x:N*T`` is a list of N, ``x:[T]`` a list whose dtypes are T's.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "src/tidemark/io/tensorflow"
SIMPLE = ("s", "i", "f", "b")


def argument(arg, types):
    if arg.type_list_attr:
        return f"{arg.name}:[{arg.type_list_attr}]"
    kind = arg.type_attr or types.as_dtype(arg.type).name
    return f"{arg.name}:{arg.number_attr + '*' if arg.number_attr else ''}{kind}"


def default_of(attr, types):
    value = attr.default_value
    kind = value.WhichOneof("value")
    if kind is None:
        return ""
    if kind == "s":
        return "=" + repr(value.s.decode())
    if kind == "type":
        return "=" + types.as_dtype(value.type).name
    if kind in SIMPLE:
        return f"={getattr(value, kind)!r}"
    if kind == "shape":
        return "=?" if value.shape.unknown_rank else "=[]"
    if kind == "list":
        items = value.list
        if len(items.type):
            return "=" + ",".join(types.as_dtype(t).name for t in items.type)
        return "=" + ",".join(str(v) for name in SIMPLE for v in getattr(items, name))
    return ""


def main():
    import tensorflow as tf
    from tensorflow.python.framework import dtypes, op_def_registry

    lines = []
    for name in sorted(name for name in dir(tf.raw_ops) if not name.startswith("_")):
        op = op_def_registry.get(name)
        cells = [
            name,
            " ".join(argument(a, dtypes) for a in op.input_arg),
            " ".join(argument(a, dtypes) for a in op.output_arg),
            " ".join(f"{a.name}:{a.type}{default_of(a, dtypes)}" for a in op.attr),
        ]
        lines.append("\t".join(cells))
    (FOLDER / "op_defs.tsv").write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} operations")


if __name__ == "__main__":
    main()
