"""What stands for an object where TensorFlow has a tensor of dtype resource or variant."""

from __future__ import annotations

import threading
import weakref

import tidemark as tf
from tidemark._graph.staged import python_call
from tidemark._tensor.methods import Reference

_named = weakref.WeakValueDictionary()  # (container, kind, shared name) → the object
_naming = threading.Lock()


class Handle(Reference):
    """A scalar that refers to an object, which lives while a handle does."""

    __slots__ = ("dtype",)

    def __init__(self, held, dtype):
        super().__init__(held)
        self.dtype = dtype

    shape = property(lambda self: tf.TensorShape([]))

    def __repr__(self):
        return f"<tf.Tensor: shape=(), dtype={self.dtype.name}, value={self.deref()!r}>"


def resource(held):
    return Handle(held, tf.resource)


def variant(held):
    return Handle(held, tf.variant)


def held(handle, kind):
    """The object behind a handle, which has to be of the kind (or of one of them)."""
    found = handle.deref() if isinstance(handle, Reference) else handle
    if isinstance(found, kind):
        return found
    kinds = kind if isinstance(kind, tuple) else (kind,)
    wanted = " or ".join(one.__name__.lstrip("_") for one in kinds)
    raise tf.errors.InvalidArgumentError(
        None, None, f"the handle has to refer to a {wanted}; given {type(found).__name__}"
    )


def shared(make, kind, container="", shared_name=""):
    """A handle of a new object; of the one that has the shared name, while one does."""
    if not shared_name:
        return resource(make())
    key = (container, kind, shared_name)
    with _naming:
        found = _named.get(key)
        if found is None:
            _named[key] = found = make()
    return resource(found)


def step(function, inputs=(), types=()):
    """The function's results: computed now, or when the graph runs that is being built.

    ``types`` are the dtypes of results, or pairs of dtype and shape; a function without results is
    a step for what it does.
    """
    wanted = [one if isinstance(one, tuple) else (one, None) for one in types]
    made = python_call(_told(function), list(inputs), [*wanted, (tf.bool, [])])
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    if wanted:
        return made[:-1]
    return None if tf.executing_eagerly() else made[-1].op


def _told(function):
    """The function with a last result that says it has run."""

    def run(*inputs):
        made = function(*inputs)
        if made is None:
            return [tf.constant(True)]
        return [*(made if isinstance(made, (list, tuple)) else [made]), tf.constant(True)]

    return run
