#!/usr/bin/env python3
"""Records TensorFlow's public names, one line a module; run by hand, with its Python.

    python-with-tensorflow tools/record_tensorflow_names.py tests/python/data/tf_names.txt

tools/gen_compatibility.py reads the file. A name in parentheses is a module of Keras.
"""

import sys
import types


def walk(module, path, lines, seen):
    """Adds a line for the module, then those of the modules inside."""
    names, inner = [], []
    for name in sorted(dir(module)):
        if name.startswith("_"):
            continue
        try:
            found = getattr(module, name)
        except Exception:  # a name that only exists in another setting
            continue
        if not isinstance(found, types.ModuleType):
            names.append(name)
            continue
        try:
            own = found.__name__.startswith(("tensorflow._api", "tensorflow.experimental"))
        except AttributeError:
            own = False
        if not own:
            names.append(f"({name})")
        elif id(found) not in seen:
            seen.add(id(found))
            inner.append((found, f"{path}.{name}"))
    lines.append(f"{path}: {' '.join(names)}")
    for found, at in inner:
        if at != "tf.compat.v2" and not path.startswith("tf.compat.v1"):
            walk(found, at, lines, seen)


def main(path):
    import tensorflow as tf

    lines = []
    walk(tf, "tf", lines, {id(tf)})
    with open(path, "w") as file:
        file.write("\n".join(sorted(lines)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
