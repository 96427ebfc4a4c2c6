"""Functions of ``tensorflow.python.ops.array_ops``, ``math_ops`` that have no public name."""

from __future__ import annotations

import tidemark
from tidemark.debugging import assert_equal

constant = tidemark.constant
stack, unstack = tidemark.stack, tidemark.unstack
maximum, minimum = tidemark.maximum, tidemark.minimum


def prevent_gradient(input, message="", name=None):
    """The input; asking for a gradient through it is an error."""

    @tidemark.custom_gradient
    def passed(value):
        def refuse(*_):
            raise LookupError(f"Gradient explicitly disabled. Reason: {message!r}")

        return tidemark.identity(value), refuse

    return passed(tidemark.convert_to_tensor(input))


def shape_internal(input, name=None, optimize=True, out_type=None):
    return tidemark.shape(input, out_type or tidemark.int32, name)


def diag_part(input, name=None):
    return tidemark.linalg.tensor_diag_part(input, name)


def lin_space(start, stop, num, name=None):
    return tidemark.linspace(start, stop, num, name)


def mod(x, y, name=None):
    return tidemark.math.floormod(x, y, name)


def _bucketize(input, boundaries, name=None):
    return tidemark.raw_ops.Bucketize(input=input, boundaries=boundaries)


def assert_splits_match(nested_splits_lists):
    """Checks that ragged tensors have the same rows: a list of checks."""
    first, *others = nested_splits_lists
    if any(len(first) != len(splits) for splits in others):
        raise ValueError("Inputs must have identical ragged splits")
    return [
        assert_equal(a, b, message="Inputs must have identical ragged splits")
        for splits in others
        for a, b in zip(first, splits, strict=True)
    ]
