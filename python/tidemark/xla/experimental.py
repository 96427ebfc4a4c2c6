"""``tf.xla.experimental``: what computes is the same with it and without."""

from __future__ import annotations

import contextlib as _contextlib

import tidemark as _tf

__all__ = ["compile", "jit_scope"]


def compile(computation, inputs=None):
    """What a function of tensors gives for the inputs, run as one traced function."""
    return _tf.function(computation)(*(inputs or ()))


@_contextlib.contextmanager
def jit_scope(compile_ops=True, separate_compiled_gradients=False):
    """A context inside of functions and graphs; their operations are compiled in any case."""
    if _tf.executing_eagerly():
        raise RuntimeError("xla.experimental.jit_scope is not supported when eager execution is "
                           "enabled. Try use it inside tf.function.")  # fmt: skip
    yield
