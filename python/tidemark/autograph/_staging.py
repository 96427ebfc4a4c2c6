"""Which values are still to be computed, and the functions that build what computes them.

Everything staged goes through ``tf.cond`` and ``tf.while_loop``. A test may put its own in their
place for its thread, with ``staged_by``, to see staged statements without a graph.
"""

from __future__ import annotations

import contextlib
import threading

import tidemark as tf
from tidemark import _tidemark
from tidemark._tidemark import Tensor

_thread = threading.local()


@contextlib.contextmanager
def staged_by(stage):
    """In this context ``stage`` has the functions ``is_staged``, ``cond`` and ``while_loop``."""
    outer = getattr(_thread, "stage", None)
    _thread.stage = stage
    try:
        yield
    finally:
        _thread.stage = outer


def is_variable(value):
    """Whether the value is a tf.Variable."""
    return isinstance(value, tf.Variable)


def is_tensor(value):
    """Whether the value is a tensor, known or not, or a variable."""
    return isinstance(value, Tensor) or is_variable(value)


def is_tracing():
    """Whether this thread builds a graph."""
    return getattr(_thread, "stage", None) is not None or _tidemark.is_tracing()


def is_staged(value):
    """Whether a statement that depends on the value has to become part of the graph."""
    if not is_tensor(value):
        return False
    stage = getattr(_thread, "stage", None)
    if stage is not None:
        return stage.is_staged(value)
    return _tidemark.is_tracing() or _tidemark.is_symbolic(value)


def cond(pred, true_fn, false_fn):
    return (getattr(_thread, "stage", None) or tf).cond(pred, true_fn, false_fn)


def while_loop(test, body, loop_vars, **options):
    return (getattr(_thread, "stage", None) or tf).while_loop(test, body, loop_vars, **options)
