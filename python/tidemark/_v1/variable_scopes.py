"""Sharing variables by name: ``tf.compat.v1.variable_scope`` and ``get_variable``.

In a graph of sessions the store of its variables belongs to the graph. Where ops compute at once,
and in functions, ``get_variable`` makes a new ``tf.Variable`` each time, as TensorFlow does.
"""

from __future__ import annotations

import inspect
import threading

import tidemark as tf
from tidemark import dtypes
from tidemark._graph.scopes import executing_eagerly, name_scope
from tidemark._tensor.creation import convert_to_tensor
from tidemark._v1.graph import GraphKeys, current_place, get_default_graph, has_own_collections
from tidemark.dtypes import as_dtype
from tidemark.tensor_shape import as_shape

AUTO_REUSE = type("_ReuseMode", (), {"__repr__": lambda self: "_ReuseMode.AUTO_REUSE"})()


def _keeps_nothing():
    """Whether ``get_variable`` makes a new variable each time here: no graph keeps them. A thread
    that entered the graph of wrapped code computes at once and shares its variables, too."""
    return executing_eagerly() and not has_own_collections()


class VariableScope:
    """Where ``get_variable`` looks: a prefix of names, and what holds for variables below it."""

    def __init__(self, reuse=False, name="", initializer=None, regularizer=None,
                 caching_device=None, partitioner=None, custom_getter=None, name_scope="",
                 dtype=dtypes.float32, use_resource=None, constraint=None):  # fmt: skip
        self._reuse, self._name, self._name_scope = reuse, name, name_scope
        self._initializer, self._regularizer = initializer, regularizer
        self._caching_device, self._partitioner = caching_device, partitioner
        self._custom_getter, self._constraint = custom_getter, constraint
        self._dtype, self._use_resource = dtype, use_resource
        if _keeps_nothing():
            if caching_device is not None:
                raise NotImplementedError("Caching devices is not yet supported when eager "
                                          "execution is enabled.")  # fmt: skip
            self._reuse, self._use_resource = AUTO_REUSE, True

    name = property(lambda self: self._name)
    original_name_scope = property(lambda self: self._name_scope)
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._initializer)
    regularizer = property(lambda self: self._regularizer)
    caching_device = property(lambda self: self._caching_device)
    partitioner = property(lambda self: self._partitioner)
    custom_getter = property(lambda self: self._custom_getter)
    dtype = property(lambda self: self._dtype)
    use_resource = property(lambda self: self._use_resource)
    constraint = property(lambda self: self._constraint)

    def reuse_variables(self):
        """From now on variables are taken that are there."""
        self._reuse = True

    def set_initializer(self, initializer):
        self._initializer = initializer

    def set_dtype(self, dtype):
        self._dtype = dtype

    def set_use_resource(self, use_resource):
        if executing_eagerly() and not use_resource:
            raise ValueError(
                "When eager execution is enabled, use_resource cannot be set to false."
            )
        self._use_resource = use_resource

    def set_regularizer(self, regularizer):
        self._regularizer = regularizer

    def set_caching_device(self, caching_device):
        """Where values would be kept for reading; they are read where they are."""
        if executing_eagerly():
            raise NotImplementedError("Caching devices are not yet supported when eager execution "
                                      "is enabled.")  # fmt: skip
        self._caching_device = caching_device

    def set_partitioner(self, partitioner):
        """How variables are cut into parts (partitioned.py)."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter):
        self._custom_getter = custom_getter

    def get_collection(self, name):
        """Those of a collection that were made below this scope."""
        scope = self._name + "/" if self._name else None
        return get_default_graph().get_collection(name, scope)

    def trainable_variables(self):
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, var_store, name, shape=None, dtype=None, initializer=None,
                     regularizer=None, reuse=None, trainable=None, collections=None,
                     caching_device=None, partitioner=None, validate_shape=True,
                     use_resource=None, custom_getter=None, constraint=None,
                     synchronization=None, aggregation=None):  # fmt: skip
        """The variable of this name below the scope."""
        initializer = self._initializer if initializer is None else initializer
        if dtype is not None and initializer is not None and not callable(initializer):
            given = convert_to_tensor(initializer).dtype
            if given != as_dtype(dtype):
                raise ValueError(f"Initializer type '{given}' and explicit dtype "
                                 f"'{as_dtype(dtype)}' don't match.")  # fmt: skip
        asked = {
            "name": f"{self._name}/{name}" if self._name else name, "shape": shape,
            "dtype": self._dtype if dtype is None else dtype, "initializer": initializer,
            "regularizer": self._regularizer if regularizer is None else regularizer,
            "reuse": AUTO_REUSE if _keeps_nothing() else self._reuse if reuse is None else reuse,
            "trainable": trainable, "collections": collections,
            "caching_device": self._caching_device if caching_device is None else caching_device,
            "partitioner": self._partitioner if partitioner is None else partitioner,
            "validate_shape": validate_shape,
            "use_resource": self._use_resource if use_resource is None else use_resource,
            "constraint": self._constraint if constraint is None else constraint,
            "synchronization": synchronization or tf.VariableSynchronization.AUTO,
            "aggregation": aggregation or tf.VariableAggregation.NONE,
        }  # fmt: skip
        custom_getter = self._custom_getter if custom_getter is None else custom_getter
        with name_scope(""):  # variables are named by their scopes alone
            if custom_getter is None:
                return var_store.get(**asked)
            if not callable(custom_getter):
                raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
            if not _takes(custom_getter, "constraint"):
                del asked["constraint"]
            return custom_getter(getter=var_store.get, **asked)


def _takes(function, argument):
    """Whether a function can be given an argument of this name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.name == argument or p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)


# --- what a graph knows of them -------------------------------------------------------------------


class _Here(threading.local):
    """The scope that each thread is in, in one graph, and which names were opened."""

    def __init__(self):
        self.scope = VariableScope(False)
        self.counts = {}


class VariableStore:
    """The variables of a graph by their full names."""

    def __init__(self, keeps_eager_variables=False):
        self._variables, self._keeps_all = {}, keeps_eager_variables

    def get(self, name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None,
            reuse=None, trainable=None, collections=None, caching_device=None, partitioner=None,
            validate_shape=True, use_resource=None, constraint=None, synchronization=None,
            aggregation=None):  # fmt: skip
        known = self._variables.get(name)
        is_cut = getattr(known, "_get_partitions", None) is not None
        if is_cut or (partitioner is not None and as_shape(shape).rank):
            return self._cut(
                known, partitioner, is_cut, name=name, shape=as_shape(shape),
                dtype=as_dtype(dtype or dtypes.float32), initializer=initializer, reuse=reuse,
                regularizer=regularizer, trainable=trainable, collections=collections,
                validate_shape=validate_shape, use_resource=use_resource, constraint=constraint,
                synchronization=synchronization, aggregation=aggregation,
            )  # fmt: skip
        is_value = initializer is not None and not callable(initializer)
        if is_value and shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        dtype, shape = as_dtype(dtype or dtypes.float32), as_shape(shape)
        known = self._variables.get(name)
        if known is not None:
            return _checked(known, name, shape, dtype, reuse)
        if reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). Did "
                "you mean to set reuse=tf.AUTO_REUSE in VarScope?"
            )
        if not is_value and not shape.is_fully_defined() and not _needs_no_shape(initializer):
            raise ValueError(
                "The initializer passed is not valid. It should be a callable with no arguments "
                "and the shape should not be provided or an instance of `tf.keras.initializers.*' "
                f"and `shape` should be fully defined. The shape of variable {name} is {shape}."
            )
        of_shape = None if is_value or _needs_no_shape(initializer) else dtype
        made = tf.compat.v1.Variable(
            initial_value=_initial(initializer, shape, dtype, name), trainable=trainable,
            collections=collections, validate_shape=validate_shape, name=name, dtype=of_shape,
            constraint=constraint, use_resource=use_resource,
            synchronization=synchronization or tf.VariableSynchronization.AUTO,
            aggregation=aggregation or tf.VariableAggregation.NONE,
        )  # fmt: skip
        if self._keeps_all or current_place() is not None or has_own_collections():
            self._variables[name] = made
        if regularizer is not None:
            _add_loss(regularizer, made, name)
        return made

    def _cut(self, known, partitioner, is_cut, name, shape, dtype, initializer, reuse,
             **options):  # fmt: skip
        """A variable that the partitioner cuts into parts, made or taken."""
        from tidemark._v1 import partitioned  # few programs cut variables

        if known is not None and not is_cut:
            raise ValueError(f"Variable {name} already exists, and it is not cut into parts")
        counts = None if partitioner is None else partitioned.counts_of(partitioner, shape, dtype)
        if known is not None:
            if counts is not None and counts != known._get_partitions():
                raise ValueError(
                    f"Trying to reuse partitioned variable {name}, but specified partitions "
                    f"{counts} and found partitions {known._get_partitions()}"
                )
            return _checked(known, name, shape, dtype, reuse)
        if reuse is True:
            raise ValueError(f"PartitionedVariable {name} does not exist, or was not created with "
                             "tf.get_variable(). Did you mean to set reuse=False or "
                             "reuse=tf.AUTO_REUSE in VarScope?")  # fmt: skip

        def make(part, sizes, initial):
            is_value = initial is not None and not callable(initial)
            return self.get(part, None if is_value else sizes, dtype, initial, **options)

        made = partitioned.cut(name, shape, dtype, counts, initializer, make)
        if self._keeps_all or current_place() is not None or has_own_collections():
            self._variables[name] = made
        return made

    def variables(self):
        return list(self._variables.values())


def _checked(known, name, shape, dtype, reuse):
    """A variable that is there already, if it is what was asked for."""
    if reuse is False or reuse is None:
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    if not shape.is_compatible_with(known.shape):
        raise ValueError(f"Trying to share variable {name}, but specified shape {shape} and found "
                         f"shape {known.shape}.")  # fmt: skip
    if dtype != known.dtype:
        raise ValueError(f"Trying to share variable {name}, but specified dtype {dtype.name} and "
                         f"found dtype {known.dtype.name}.")  # fmt: skip
    return known


def _needs_no_shape(initializer):
    """Whether an initializer can be called without arguments."""
    if not callable(initializer) or isinstance(initializer, type):
        return False
    try:
        parameters = inspect.signature(initializer).parameters.values()
    except (TypeError, ValueError):
        return False
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return all(p.default is not p.empty for p in parameters if p.kind in plain)


def _initial(initializer, shape, dtype, name):
    if initializer is None:
        if dtype.is_floating:
            from tidemark._v1.initializers import glorot_uniform_initializer  # loaded on first use

            initializer = glorot_uniform_initializer()
        elif dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == dtypes.string:
            return lambda: tf.zeros(shape, dtype)
        else:
            raise ValueError(f"An initializer for variable {name} of {dtype} is required")
    if isinstance(initializer, type):
        initializer = initializer()
    if not callable(initializer) or (_needs_no_shape(initializer) and not shape.is_fully_defined()):
        return initializer
    if _needs_no_shape(initializer):
        return lambda: initializer()
    sizes = shape.as_list()
    return lambda: initializer(sizes, dtype=dtype)


def _add_loss(regularizer, variable, name):
    with name_scope(name + "/Regularizer/"):
        loss = regularizer(variable)
    if loss is not None:
        get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


def _here() -> _Here:
    known = get_default_graph().__dict__
    return known.get("_variable_scopes") or known.setdefault("_variable_scopes", _Here())


def default_variable_store() -> VariableStore:
    """The store of the graph that is built here."""
    known = get_default_graph().__dict__
    return known.get("_variable_store") or known.setdefault("_variable_store", VariableStore())


def exchange_variable_store(store):
    """Makes another store this graph's; returns the one before."""
    before, get_default_graph().__dict__["_variable_store"] = default_variable_store(), store
    return before


# --- the functions of TensorFlow 1 ----------------------------------------------------------------


def get_variable_scope():
    """The scope of this place."""
    return _here().scope


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None,
                 collections=None, caching_device=None, partitioner=None, validate_shape=True,
                 use_resource=None, custom_getter=None, constraint=None, synchronization=None,
                 aggregation=None):  # fmt: skip
    """The variable of this name in the current scope: made, or taken where the scope reuses."""
    return get_variable_scope().get_variable(
        default_variable_store(), name, shape, dtype, initializer, regularizer, None, trainable,
        collections, caching_device, partitioner, validate_shape, use_resource, custom_getter,
        constraint, synchronization, aggregation,
    )  # fmt: skip


def _unique(prefix):
    """The prefix, with a number where a scope of this name was opened here before."""
    here = _here()
    full = f"{here.scope.name}/{prefix}" if here.scope.name else prefix
    if not here.counts.get(full):
        return prefix
    number = 1
    while here.counts.get(f"{full}_{number}"):
        number += 1
    return f"{prefix}_{number}"


def _wrapped_getter(custom_getter, outer):
    """A getter inside of which the outer scope's one is the getter."""
    if outer is None:
        return custom_getter

    def both(getter, *args, **kwargs):
        def inner(*args, **kwargs):
            return outer(getter, *args, **kwargs)

        return custom_getter(inner, *args, **kwargs)

    return both


class variable_scope:
    """A context in which ``get_variable`` finds variables under the scope's name."""

    def __init__(self, name_or_scope, default_name=None, values=None, initializer=None,
                 regularizer=None, caching_device=None, partitioner=None, custom_getter=None,
                 reuse=None, dtype=None, use_resource=None, constraint=None,
                 auxiliary_name_scope=True):  # fmt: skip
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError("The auxiliary_name_scope must be `True` or `False`, while get "
                            f"{auxiliary_name_scope}")  # fmt: skip
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        self._given, self._default = name_or_scope, default_name
        self._reuse = None if reuse is False else reuse  # scopes inherit what they do not say
        if self._reuse and name_or_scope is None:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        self._settings = {
            "initializer": initializer, "regularizer": regularizer,
            "caching_device": caching_device, "partitioner": partitioner, "dtype": dtype,
            "use_resource": use_resource, "constraint": constraint,
        }  # fmt: skip
        self._custom_getter, self._names_ops = custom_getter, auxiliary_name_scope
        self._open = []

    def __enter__(self):
        here = _here()
        outer, counts = here.scope, dict(here.counts)
        name = self._given.name.rpartition("/")[2] if isinstance(self._given, VariableScope) else (
            self._given or self._default or "")  # fmt: skip
        ops = name_scope(name) if self._names_ops and name else None
        ops_name = ops.__enter__() if ops else self._current_ops_name()
        try:
            here.scope = self._made(outer, ops_name)
        except BaseException:
            if ops:
                ops.__exit__(None, None, None)
            raise
        full = here.scope.name
        here.counts[full] = here.counts.get(full, 0) + 1
        self._open.append((here, here.scope, outer, counts, ops))
        return here.scope

    @staticmethod
    def _current_ops_name():
        name = tf.get_current_name_scope()
        return name + "/" if name else ""

    def _made(self, outer, ops_name):
        if isinstance(self._given, VariableScope):
            inherited, full, ops_name = (
                self._given,
                self._given.name,
                self._given.original_name_scope,
            )
        else:
            inherited = outer
            name = self._given if self._given is not None else _unique(self._default)
            full = f"{outer.name}/{name}" if outer.name and name else outer.name or name
        found = {key: getattr(inherited, key) for key in self._settings}
        found.update({key: value for key, value in self._settings.items() if value is not None})
        getter = inherited.custom_getter
        if self._custom_getter is not None:
            getter = _wrapped_getter(self._custom_getter, getter)
        reuse = self._reuse or (inherited.reuse if inherited is self._given else outer.reuse)
        return VariableScope(reuse, full, custom_getter=getter, name_scope=ops_name, **found)

    def __exit__(self, *error):
        here, mine, outer, counts, ops = self._open[-1]
        if here.scope is not mine:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._open.pop()
        full = mine.name
        if isinstance(self._given, VariableScope):
            here.counts = counts
        else:  # the next scope of this name begins to count anew what is below it
            below = full + "/" if full else ""
            here.counts = {k: n for k, n in here.counts.items() if not k.startswith(below)}
        here.scope = outer
        if ops:
            ops.__exit__(*error)
        return False

    def __call__(self, function):
        import functools  # decorators alone need it

        @functools.wraps(function)
        def inside(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return inside
