#!/usr/bin/env python3
"""Writes down what TensorFlow makes of the programs in tests/python/autograph_programs.py.

python tools/record_autograph.py --write     # with a Python that has TensorFlow
"""

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "python" / "data" / "tf_autograph.json"


def described(tf, value):
    """A result as JSON: dtype, shape and values of each leaf."""
    if isinstance(value, dict):
        return {key: described(tf, value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [described(tf, part) for part in value]
    if value is None:
        return None
    array = tf.convert_to_tensor(value).numpy()
    if isinstance(array, bytes):
        return {"dtype": "string", "shape": [], "values": array.decode()}
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": array.tolist()}


def outcome(tf, run, arguments):
    """What a call gives: its result, or the name of its error."""
    try:
        return described(tf, run(*[tf.constant(value) for value in arguments]))
    except Exception as error:
        return type(error).__name__


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the file")
    arguments = parser.parse_args()
    os.environ["AUTOGRAPH_PROGRAMS_ON"] = "tensorflow"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    from autograph_programs import PROGRAMS, tf

    recorded = {}
    for function, calls in PROGRAMS:
        run = tf.function(function)
        recorded[function.__name__] = [outcome(tf, run, call) for call in calls]
    lines = [f"{json.dumps(name)}: {json.dumps(results)}" for name, results in recorded.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    if arguments.write:
        DATA.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
