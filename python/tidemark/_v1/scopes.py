"""Sharing variables by name, grouping operations."""

from __future__ import annotations

import contextlib
import threading

import tidemark as tf
from tidemark import _tidemark, dtypes
from tidemark._graph.scopes import name_scope
from tidemark._v1.graph import (
    Operation,
    current_place,
    dependencies,
    get_default_graph,
    name_result,
)
from tidemark._v1.variables import RefVariable, global_variables, trainable_variables
from tidemark.dtypes import as_dtype
from tidemark.tensor_shape import as_shape

AUTO_REUSE = type("_ReuseMode", (), {"__repr__": lambda self: "_ReuseMode.AUTO_REUSE"})()
_thread = threading.local()


class VariableScope:
    """Where ``get_variable`` looks: a prefix of names and what to do with those that are there."""

    def __init__(self, name="", reuse=False, initializer=None, regularizer=None, dtype=None):
        self._name, self._reuse = name, reuse
        self._initializer, self._regularizer = initializer, regularizer
        self._dtype = dtype or dtypes.float32

    name = property(lambda self: self._name)
    original_name_scope = property(lambda self: self._name + "/" if self._name else "")
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._initializer)
    regularizer = property(lambda self: self._regularizer)
    dtype = property(lambda self: self._dtype)
    caching_device = None

    def reuse_variables(self):
        """From now on variables are taken that are there."""
        self._reuse = True

    def set_caching_device(self, caching_device):
        """Where values would be kept for reading; they are read where they are."""
        self.caching_device = caching_device

    def set_initializer(self, initializer):
        self._initializer = initializer

    def set_regularizer(self, regularizer):
        self._regularizer = regularizer

    def global_variables(self):
        return global_variables(self._name + "/")

    def trainable_variables(self):
        return trainable_variables(self._name + "/")


def get_variable_scope():
    """The scope of this place."""
    stack = getattr(_thread, "scopes", None)
    if not stack:
        _thread.scopes = stack = [VariableScope()]
    return stack[-1]


def _unique_scope(base):
    counts = get_default_graph().__dict__.setdefault("_scope_counts", {})
    count = counts[base] = counts.get(base, -1) + 1
    return base if not count else f"{base}_{count}"


@contextlib.contextmanager
def variable_scope(name_or_scope, default_name=None, values=None, initializer=None,
                   regularizer=None, caching_device=None, partitioner=None, custom_getter=None,
                   reuse=None, dtype=None, use_resource=None, constraint=None,
                   auxiliary_name_scope=True):  # fmt: skip
    """A context in which ``get_variable`` finds variables under the scope's name."""
    outer = get_variable_scope()
    if isinstance(name_or_scope, VariableScope):
        name, inherited = name_or_scope.name, name_or_scope
    else:
        if name_or_scope is None:
            if default_name is None:
                raise TypeError("If default_name is None then name_or_scope is required")
            prefix = f"{outer.name}/{default_name}" if outer.name else default_name
            name = _unique_scope(prefix)
        else:
            name = f"{outer.name}/{name_or_scope}" if outer.name else name_or_scope
        inherited = outer
    scope = VariableScope(
        name,
        inherited.reuse if reuse is None or (reuse is False and outer.reuse is True) else reuse,
        initializer or inherited.initializer,
        regularizer or inherited.regularizer,
        dtype or inherited.dtype,
    )
    _thread.scopes.append(scope)
    last = name.rpartition("/")[2] if auxiliary_name_scope else None
    try:
        with name_scope(last) if last else contextlib.nullcontext():
            yield scope
    finally:
        _thread.scopes.pop()


def _initial(initializer, shape, dtype):
    if initializer is None:
        if dtype.is_floating:
            from tidemark._v1.initializers import glorot_uniform_initializer  # loaded on first use

            initializer = glorot_uniform_initializer()
        else:
            return lambda: tf.zeros(shape, dtype)
    if isinstance(initializer, type):
        initializer = initializer()
    if not callable(initializer):
        return initializer
    return lambda: initializer(shape, dtype=dtype)


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None,
                 collections=None, caching_device=None, partitioner=None, validate_shape=True,
                 use_resource=None, custom_getter=None, constraint=None, synchronization=None,
                 aggregation=None):  # fmt: skip
    """The variable of this name in the current scope: made, or taken where the scope reuses."""
    scope, graph = get_variable_scope(), get_default_graph()
    store = graph.__dict__.setdefault("_variable_store", {})
    full = f"{scope.name}/{name}" if scope.name else name
    known = store.get(full)
    if known is not None:
        if scope.reuse is False or scope.reuse is None:
            raise ValueError(
                f"Variable {full} already exists, disallowed. Did you mean to set reuse=True or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        if shape is not None and not as_shape(shape).is_compatible_with(known.shape):
            raise ValueError(
                f"Trying to share variable {full}, but specified shape {as_shape(shape)} and found "
                f"shape {known.shape}."
            )
        return known
    if scope.reuse is True:
        raise ValueError(
            f"Variable {full} does not exist, or was not created with tf.get_variable(). Did you "
            "mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    dtype = as_dtype(dtype or scope.dtype)
    sizes = None if shape is None else as_shape(shape).as_list()
    initializer = scope.initializer if initializer is None else initializer
    if sizes is None and (initializer is None or callable(initializer)):
        raise ValueError(
            f"Shape of a new variable ({full}) must be fully defined, but instead was <unknown>."
        )
    place = current_place()
    if place is None:
        raise RuntimeError(
            "tf.compat.v1.get_variable needs a graph: use it in tf.Graph().as_default() or in a "
            "session"
        )
    with name_scope(scope.name + "/" if scope.name else ""):
        made = RefVariable(
            _initial(initializer, sizes, dtype), trainable is not False, collections,
            validate_shape, name, dtype if callable(initializer) or initializer is None else None,
            constraint,
        )  # fmt: skip
    store[full] = made
    regularizer = regularizer or scope.regularizer
    if regularizer is not None:
        loss = regularizer(made._reading)
        if loss is not None:
            graph.add_to_collection("regularization_losses", loss)
    return made


def group(*inputs, name=None):
    """An operation that runs all the given ones."""
    flat = []
    for item in inputs:
        flat.extend(item if isinstance(item, (list, tuple)) else [item])
    flat = [item for item in flat if item is not None]
    if current_place() is None:
        return None
    with dependencies(flat):
        made = Operation(_tidemark.no_op())
    name_result(made, name or ("group_deps" if flat else None))
    return made


def no_op(name=None):
    """An operation that does nothing."""
    return group(name=name)


def with_dependencies(before, tensor, name=None):
    """The tensor, after the given operations."""
    with dependencies(before):
        return tf.identity(tensor, name=name)
