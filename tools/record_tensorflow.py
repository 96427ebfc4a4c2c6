#!/usr/bin/env python3
"""Records what TensorFlow answers to a list of expressions; run by hand, with its Python.

    python-with-tensorflow tools/record_tensorflow.py tests/python/data/tf_results.json

The file holds pairs of an expression and its result. New expressions are added to it by hand, with
null as the result, and filled in by running this; tests/python/test_tf_results.py compares ours.
"""

import json
import math
import sys


def described(value):
    """A result as plain data: a list of [dtype, shape, flat values]."""
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in described(item)]
    if hasattr(value, "dense_shape"):
        return described([value.indices, value.values, value.dense_shape])
    if hasattr(value, "nested_row_splits"):
        return described([value.flat_values, *value.nested_row_splits])
    if not hasattr(value, "numpy"):
        return [[type(value).__name__, None, [repr(value)]]]
    array = value.numpy()
    flat = array.ravel().tolist() if hasattr(array, "ravel") else [array]
    return [[value.dtype.name, list(value.shape), [plain(v) for v in flat]]]


def plain(value):
    """A value JSON can hold."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def answer(expression, tf):
    try:
        return described(eval(expression, {"tf": tf}))
    except Exception as error:
        return type(error).__name__


def main(path):
    import tensorflow as tf

    with open(path) as file:
        pairs = json.load(file)
    lines = [json.dumps([expression, answer(expression, tf)]) for expression, _ in pairs]
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
