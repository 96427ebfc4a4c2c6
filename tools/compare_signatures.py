#!/usr/bin/env python3
"""Compares our Python names and signatures with TensorFlow's; run by hand.

    python tools/compare_signatures.py /path/to/python-with-tensorflow           # what differs
    python tools/compare_signatures.py /path/to/python-with-tensorflow --write   # keep them

--write stores TensorFlow's signatures of our names in tests/python/data/tf_signatures.json, so that
a test can compare without TensorFlow. A name ends up there only if TensorFlow has it.
"""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
from pathlib import Path

STORE = Path(__file__).resolve().parent.parent / "tests" / "python" / "data" / "tf_signatures.json"
SPACES = (
    "", "math", "linalg", "random", "random.experimental", "nn", "nest", "bitwise", "debugging",
    "config", "config.threading", "config.experimental", "dtypes", "errors", "experimental.dlpack",
    "strings", "io", "io.gfile", "lookup", "lookup.experimental", "sets", "image",
)  # fmt: skip


def signature_of(function):
    """Parameters as text, one each: "x", "axis=None", "*args"; None when it does not say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    texts = []
    for p in parameters:
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else f"={p.default!r}"
        texts.append(f"{star}{p.name}{default}")
    return texts


def public_functions(tf):
    """Full name → signature for every public callable of the spaces."""
    found = {}
    for space in SPACES:
        module = tf
        try:
            for part in filter(None, space.split(".")):
                module = getattr(module, part)
        except AttributeError:
            continue
        for name in dir(module):
            thing = getattr(module, name, None)
            if name.startswith("_") or inspect.ismodule(thing) or not callable(thing):
                continue
            if inspect.isclass(thing) and not issubclass(thing, Exception):
                continue
            found[".".join(filter(None, ("tf", space, name)))] = signature_of(thing)
    return found


def dump(module):
    print(json.dumps(public_functions(__import__(module))))


def ask(python):
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
    code += "import compare_signatures; compare_signatures.dump('tensorflow')"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="a Python that has TensorFlow")
    parser.add_argument("--write", action="store_true", help="store TensorFlow's signatures")
    options = parser.parse_args()
    import tidemark

    ours, theirs = public_functions(tidemark), ask(options.python)
    shared = {name: theirs[name] for name in sorted(ours) if name in theirs}
    for name, wanted in shared.items():
        if ours[name] != wanted:
            print(f"{name}\n    ours   ({', '.join(ours[name] or ['?'])})")
            print(f"    theirs ({', '.join(wanted or ['?'])})")
    print("\nnot ours:", ", ".join(sorted(set(theirs) - set(ours))))
    print("\nonly ours:", ", ".join(sorted(set(ours) - set(theirs))))
    if options.write:
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in shared.items()]
        STORE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
