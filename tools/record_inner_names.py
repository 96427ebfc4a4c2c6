#!/usr/bin/env python3
"""Records TensorFlow's inner modules: which of their names are public things; run by hand.

    python-with-tensorflow tools/record_inner_names.py

It writes public_names.tsv beside tidemark/_tensorflow/inner/__init__.py.

A line: a module below ``tensorflow``, then what it holds, by the namespace it is public in:
``python.ops.math_ops<tab>tf.math:abs,add,to_float=cast``. ``to_float=cast`` is called ``cast`` in
public. Names that are not public are left out; so are those of ``tf.raw_ops``, which the modules
``python.ops.gen_…`` hold in another spelling.
"""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "python/tidemark/_tensorflow/inner"
TARGET = FOLDER / "public_names.tsv"
# Not looked into: tools, and what is built in another way here.
LEFT_OUT = ("tensorflow.python.debug", "tensorflow.python.tools", "tensorflow.python.tpu",
            "tensorflow.python.keras", "tensorflow.python._")  # fmt: skip
NAMED_BY_PACKAGES = ("python.util.all_util", "python.framework.test_util",
                     "python.ops.clustering_ops", "python.client.timeline")  # fmt: skip
SHOWN_BY_VALUE = (bool, int, float, str, bytes, tuple, list, dict, type(None))


def public_things():
    """id of a thing → its public name; TensorFlow 2's names come before TensorFlow 1's."""
    import tensorflow as tf

    found, keep = {}, []
    roots = [(tf, "tf"), (tf.__internal__, "tf.__internal__"), (tf.compat.v1, "tf.compat.v1")]
    for root, path in roots:
        walk(root, path, found, keep, set())
    return found, keep


def walk(module, path, found, keep, seen):
    if id(module) in seen or path.endswith((".raw_ops", ".keras", ".v2")):
        return
    seen.add(id(module))
    inner = []
    for name in sorted(dir(module)):
        if name.startswith("_"):
            continue
        try:
            thing = getattr(module, name)
        except Exception:  # a name that exists in another setting alone
            continue
        if isinstance(thing, types.ModuleType):
            if getattr(thing, "__name__", "").startswith(("tensorflow._api", "tensorflow.exper")):
                inner.append((thing, f"{path}.{name}"))
        elif not isinstance(thing, SHOWN_BY_VALUE):
            keep.append(thing)
            found.setdefault(id(thing), f"{path}.{name}")
    for thing, at in inner:
        if not at.startswith("tf.compat.v1.compat"):
            walk(thing, at, found, keep, seen)


def modules():
    """TensorFlow's own modules: those that it loads itself, and those that packages name."""
    for name in NAMED_BY_PACKAGES:
        importlib.import_module(f"tensorflow.{name}")
    for name, module in sorted(sys.modules.items()):
        inner = name.startswith(("tensorflow.python.", "tensorflow.core.", "tensorflow.compiler."))
        if inner and module and not name.startswith(LEFT_OUT) and "pywrap" not in name:
            yield module


def line_of(module, public):
    spaces = {}
    for name, thing in sorted(vars(module).items()):
        if name.startswith("__") or isinstance(thing, (types.ModuleType, *SHOWN_BY_VALUE)):
            continue
        known = public.get(id(thing))
        if known is None:
            continue
        space, _, last = known.rpartition(".")
        spaces.setdefault(space, []).append(name if name == last else f"{name}={last}")
    text = " ".join(f"{space}:{','.join(names)}" for space, names in sorted(spaces.items()))
    return f"{module.__name__.removeprefix('tensorflow.')}\t{text}".rstrip()


def main():
    public, _keep = public_things()
    lines = {line_of(module, public) for module in modules()}
    TARGET.write_text("\n".join(sorted(lines)) + "\n")
    print(f"{len(lines)} modules")


if __name__ == "__main__":
    main()
