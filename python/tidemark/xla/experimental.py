"""``tf.xla.experimental``: what computes is the same with it and without."""

from __future__ import annotations

import contextlib as _contextlib

import tidemark as _tf

__all__ = ["compile", "jit_scope"]


def compile(computation, inputs=None):
    """What a function of tensors gives for the inputs, run as one traced function.

    One value comes in a list of its own; no value, or nothing but operations, is an operation.
    """
    made = _tf.function(computation)(*(inputs or ()))
    values = [x for x in _tf.nest.flatten(made) if x is not None]
    if not values or all(not _tf.is_tensor(x) and isinstance(x, _tf.Operation) for x in values):
        return _tf.group(*values)
    if type(made) is tuple:
        return list(made)
    return made if _tf.nest.is_nested(made) else [made]


@_contextlib.contextmanager
def jit_scope(compile_ops=True, separate_compiled_gradients=False):
    """A context inside of functions and graphs; their operations are compiled in any case."""
    if _tf.executing_eagerly():
        raise RuntimeError("xla.experimental.jit_scope is not supported when eager execution is "
                           "enabled. Try use it inside tf.function.")  # fmt: skip
    yield
