"""``tf.RegisterGradient`` and ``tf.no_gradient``: gradients by the names of operations.

Operations that are here have their gradients in their definitions; names of others can be given
one, as programs do for operations that they load.
"""

from __future__ import annotations

import threading

_registered = {}
_lock = threading.Lock()


def _register(op_type, function):
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    from tidemark._v1.graph_def import table  # few programs register gradients

    with _lock:
        if op_type in _registered or table.rule_by_theirs(op_type):
            raise KeyError(f"Registering two gradient with name '{op_type}'! an operation of this "
                           "name has one")  # fmt: skip
        _registered[op_type] = function


class RegisterGradient:
    """A decorator that makes a function the gradient of the operations of a name."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, function):
        _register(self._op_type, function)
        return function


def no_gradient(op_type):
    """Says that the operations of a name cannot be differentiated."""
    _register(op_type, None)
