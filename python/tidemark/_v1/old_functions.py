"""Functions that TensorFlow 2 does not have any more."""

from __future__ import annotations

import collections
import contextlib

import tidemark as tf
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._v1.graph import GraphKeys, current_place, get_default_graph, name_result
from tidemark._v1.scopes import get_variable, group
from tidemark._v1.templates import make_template
from tidemark._v1.unread import after_update
from tidemark._v1.variables import global_variables, variables_initializer
from tidemark.sparse._tensor import SparseTensorValue


def div(x, y, name=None):
    """Python 2's division: whole numbers give whole numbers."""
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    return tf.math.floordiv(x, y) if x.dtype.is_integer else tf.divide(x, y, name=name)


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """A sparse tensor as it is, anything else as a tensor."""
    if isinstance(value, SparseTensorValue):
        value = tf.SparseTensor(*value)
    if not isinstance(value, tf.SparseTensor):
        return tf.convert_to_tensor(value, dtype=dtype, name=name)
    if dtype is not None and value.dtype != tf.as_dtype(dtype):
        raise RuntimeError(
            f"Sparse dtype mismatch. Requested: {tf.as_dtype(dtype).name}, Actual: "
            f"{value.dtype.name}"
        )
    return value


Difference = collections.namedtuple("ListDiff", "out idx")


def setdiff1d(x, y, index_dtype=tf.int32, name=None):
    """The elements of a vector that another does not have, in order, and where they are."""
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    distinct, numbers = tf.unique(tf.concat([y, x], 0))
    count = tf.size(y)
    taken = tf.tensor_scatter_nd_update(
        tf.zeros(tf.shape(distinct), tf.bool), numbers[:count, None], tf.ones([count], tf.bool)
    )
    places = tf.where(tf.logical_not(tf.gather(taken, numbers[count:])))[:, 0]
    return Difference(tf.gather(x, places), tf.cast(places, index_dtype))


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    return tf.random.categorical(logits, num_samples, output_dtype or tf.int64, seed)


def to_double(x, name="ToDouble"):
    return tf.cast(x, tf.float64)


def to_bfloat16(x, name="ToBFloat16"):
    return tf.cast(x, tf.bfloat16)


def to_complex64(x, name="ToComplex64"):
    return tf.cast(x, tf.complex64)


def to_complex128(x, name="ToComplex128"):
    return tf.cast(x, tf.complex128)


def arg_max(input, dimension, output_type=None, name=None):
    return tf.argmax(input, dimension, output_type or tf.int64)


def arg_min(input, dimension, output_type=None, name=None):
    return tf.argmin(input, dimension, output_type or tf.int64)


def string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None):
    return tf.strings.to_hash_bucket(input if string_tensor is None else string_tensor, num_buckets)


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0,
                    validate_indices=True, name=None):  # fmt: skip
    """A tensor of the default value with the given values at the given places."""
    values = tf.convert_to_tensor(sparse_values)
    indices = tf.convert_to_tensor(sparse_indices)
    while indices.shape.rank < 2:
        indices = tf.expand_dims(indices, -1)
    if values.shape.rank == 0:
        values = tf.broadcast_to(values, [tf.shape(indices)[0]])
    dense = tf.fill(output_shape, tf.cast(default_value, values.dtype))
    return tf.tensor_scatter_nd_update(dense, indices, values)


def py_func(func, inp, Tout, stateful=True, name=None):
    """Calls a Python function on arrays."""
    return tf.numpy_function(func, inp, Tout)


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    """Prints the data when it runs, and is the input."""
    shown = [message or "", *data]
    if current_place() is None:
        tf.print(*shown, summarize=summarize or 3)
        return tf.identity(input_)
    from tidemark._graph.staged import python_call  # only graphs need it

    left = [float("inf") if first_n is None or first_n < 0 else first_n]

    def show(value, *values):
        if left[0] > 0:
            left[0] -= 1
            tf.print(message or "", *values, summarize=summarize or 3)
        return value

    given = tf.convert_to_tensor(input_)
    types = [(given.dtype, None if given.shape.rank is None else given.shape.as_list())]
    out = python_call(show, [given, *data], types)
    return out[0] if isinstance(out, (list, tuple)) else out


def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    return tf.debugging.check_numerics(x if t is None else t, msg or message or "")


def add_to_collections(names, value):
    get_default_graph().add_to_collections(names, value)


def model_variables(scope=None):
    return get_default_graph().get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope=None):
    return get_default_graph().get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def get_local_variable(name, shape=None, dtype=None, initializer=None, **kwargs):
    """``get_variable`` in the collection of local variables, not trained."""
    collections = list(kwargs.get("collections") or ())
    if GraphKeys.LOCAL_VARIABLES not in collections:
        collections.append(GraphKeys.LOCAL_VARIABLES)
    kwargs["collections"] = collections
    kwargs["trainable"] = False
    return get_variable(name, shape, dtype, initializer, **kwargs)


def tables_initializer(name="init_all_tables"):
    """An operation that fills the tables of the collection."""
    return group(*get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS), name=name)


def initialize_variables(var_list, name="init"):
    return variables_initializer(var_list, name)


@contextlib.contextmanager
def colocate_with(op, ignore_existing=False):
    """There is one device."""
    yield


@contextlib.contextmanager
def container(container_name):
    """Variables belong to their session."""
    yield


@contextlib.contextmanager
def op_scope(values, name, default_name=None):
    with tf.name_scope(name or default_name) as scope:
        yield scope


def tuple_of(tensors, name=None, control_inputs=None):
    """The tensors, each after all of them."""
    kept = [t for t in tensors if t is not None]
    before = [*kept, *(control_inputs or ())]
    with tf.name_scope(name or "tuple"), tf.control_dependencies(before):
        return [None if t is None else tf.identity(t, name="control_dependency") for t in tensors]


def _scatter(method):
    def scatter(ref, indices, updates, use_locking=False, name=None):
        rows = IndexedSlices(tf.convert_to_tensor(updates), indices)
        return after_update(getattr(ref, method)(rows))

    scatter.__name__ = scatter.__qualname__ = method
    return scatter


SCATTERS = {
    f"scatter_{kind}": _scatter(f"scatter_{kind}")
    for kind in ("add", "sub", "update", "max", "min", "mul", "div")
}


def _scatter_nd(method):
    def scatter(ref, indices, updates, use_locking=True, name=None):
        return after_update(getattr(ref, method)(indices, updates))

    scatter.__name__ = scatter.__qualname__ = method
    return scatter


SCATTERS.update(
    {f"scatter_nd_{kind}": _scatter_nd(f"scatter_nd_{kind}") for kind in ("add", "sub", "update")}
)


def assert_variables_initialized(var_list=None):
    """An operation that raises unless the variables have values."""
    chosen = global_variables() if var_list is None else var_list
    done = group(*[v.read_value() for v in chosen])
    name_result(done, "assert_variables_initialized")
    return done


def _nothing(*args, **kwargs):
    """A switch between behaviours of TensorFlow that are one here."""


SWITCHES = {
    name: _nothing
    for name in ("disable_control_flow_v2", "disable_resource_variables",
                 "disable_tensor_equality", "disable_v2_tensorshape", "enable_control_flow_v2",
                 "enable_resource_variables", "enable_tensor_equality",
                 "enable_v2_tensorshape")
}  # fmt: skip

NAMES = {
    function.__name__: function
    for function in (
        Print, SparseTensorValue, add_to_collections, arg_max, arg_min,
        assert_variables_initialized, colocate_with, container,
        convert_to_tensor_or_sparse_tensor, div, get_local_variable,
        initialize_variables, make_template, model_variables, moving_average_variables,
        multinomial, op_scope, py_func, setdiff1d, sparse_to_dense, string_to_hash_bucket,
        tables_initializer, to_bfloat16, to_complex128, to_complex64, to_double,
        verify_tensor_all_finite,
    )
}  # fmt: skip
NAMES.update(SCATTERS)
NAMES.update(SWITCHES)
NAMES.update(
    initialize_all_tables=tables_initializer,
    tuple=tuple_of,
    resource_variables_enabled=lambda: True,
    control_flow_v2_enabled=lambda: True,
)
