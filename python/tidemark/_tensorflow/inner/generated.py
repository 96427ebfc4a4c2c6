"""``tensorflow.python.ops.gen_…``: ``tf.raw_ops`` by other names, called by position, too."""

from __future__ import annotations

import functools
import inspect
import re

from tidemark import raw_ops


def _snake_case(name):
    """The name of the Python function of an operation."""
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name.replace(">", "_"))
    return re.sub(r"([a-z\d])([A-Z])", r"\1_\2", name).lower()


@functools.cache
def _operations():
    return {_snake_case(name): name for name in dir(raw_ops) if name[0].isupper()}


@functools.cache
def function(name):
    """The function of a name such as ``mat_mul`` or ``MatMul``; None."""
    operation = _operations().get(name) or (name if name[:1].isupper() else None)
    raw = operation and getattr(raw_ops, operation, None)
    if raw is None:
        return None
    signature = inspect.signature(raw)

    @functools.wraps(raw)
    def generated(*args, **kwargs):
        return raw(**signature.bind(*args, **kwargs).arguments)

    generated.__name__ = name
    return generated
