"""TensorFlow 1's names: in ``tf.compat.v1``, and at the top level where TensorFlow 2 has none."""

from __future__ import annotations

import importlib

import tidemark as tf
from tidemark import _tidemark, dtypes
from tidemark._graph import func_graph as scratch_graph
from tidemark._tensor.creation import convert_to_tensor
from tidemark._v1 import graph as _graph
from tidemark._v1 import initializers, old_functions, old_names, scopes, session, variables
from tidemark._v1.config import ConfigProto, GPUOptions, RunMetadata, RunOptions
from tidemark._v1.gradients import AggregationMethod, gradients, hessians
from tidemark._v1.graph import Graph, GraphKeys, Operation, current_place, name_result


def placeholder(dtype, shape=None, name=None):
    """A tensor that is given a value when the graph runs."""
    scratch = scratch_graph.placeholder(dtype, shape)
    if scratch is not None:
        return scratch
    place = current_place()
    if place is None:
        raise RuntimeError("tf.compat.v1.placeholder() is not compatible with eager execution.")
    place.graph.check_not_finalized()
    made = _tidemark.placeholder(dtypes.as_dtype(dtype), shape)
    name_result(made, name or "Placeholder")
    return made


def placeholder_with_default(input, shape, name=None):
    """A tensor that is ``input`` unless the run gives it another value."""
    value = convert_to_tensor(input)
    if current_place() is None:
        return tf.identity(value)
    made = _tidemark.placeholder_with_default(value, tf.TensorShape(shape))
    if not made.shape.is_compatible_with(value.shape):
        raise ValueError(f"Shapes {made.shape} and {value.shape} are incompatible")
    name_result(made, name or "PlaceholderWithDefault")
    return made


def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    return tf.random.normal(shape, mean, stddev, dtype, seed, name)


def random_uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    return tf.random.uniform(shape, minval, maxval, dtype, seed, name)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    return tf.random.truncated_normal(shape, mean, stddev, dtype, seed, name)


def set_random_seed(seed):
    """The seed of the graph that is built here, or of the program."""
    if _tidemark.is_tracing():
        _graph.get_default_graph().seed = seed
    else:
        tf.random.set_seed(seed)


def get_collection(key, scope=None):
    return _graph.get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    return _graph.get_default_graph().get_collection_ref(key)


def add_to_collection(name, value):
    _graph.get_default_graph().add_to_collection(name, value)


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    return ref.assign(value, name=name)


def assign_add(ref, value, use_locking=None, name=None):
    return ref.assign_add(value, name=name)


def assign_sub(ref, value, use_locking=None, name=None):
    return ref.assign_sub(value, name=name)


def executing_eagerly():
    return not _tidemark.is_tracing()


def to_float(x, name="ToFloat"):
    return tf.cast(x, tf.float32, name=name)


def to_int32(x, name="ToInt32"):
    return tf.cast(x, tf.int32, name=name)


def to_int64(x, name="ToInt64"):
    return tf.cast(x, tf.int64, name=name)


def enable_v2_behavior():
    """TensorFlow 2's behaviour is what there is."""


NAMES = {
    "AUTO_REUSE": scopes.AUTO_REUSE,
    "AggregationMethod": AggregationMethod,
    "ConfigProto": ConfigProto,
    "GPUOptions": GPUOptions,
    "Graph": Graph,
    "GraphKeys": GraphKeys,
    "InteractiveSession": session.InteractiveSession,
    "Operation": Operation,
    "RunMetadata": RunMetadata,
    "RunOptions": RunOptions,
    "Session": session.Session,
    "VariableScope": scopes.VariableScope,
    "add_to_collection": add_to_collection,
    "assign": assign,
    "assign_add": assign_add,
    "assign_sub": assign_sub,
    "constant_initializer": initializers.constant_initializer,
    "disable_eager_execution": _graph.disable_eager_execution,
    "disable_v2_behavior": _graph.disable_eager_execution,
    "enable_eager_execution": _graph.enable_eager_execution,
    "enable_v2_behavior": enable_v2_behavior,
    "executing_eagerly": executing_eagerly,
    "get_collection": get_collection,
    "get_collection_ref": get_collection_ref,
    "get_default_graph": _graph.graph_being_built,
    "get_default_session": session.get_default_session,
    "get_variable": scopes.get_variable,
    "get_variable_scope": scopes.get_variable_scope,
    "global_variables": variables.global_variables,
    "global_variables_initializer": variables.global_variables_initializer,
    "glorot_normal_initializer": initializers.glorot_normal_initializer,
    "glorot_uniform_initializer": initializers.glorot_uniform_initializer,
    "gradients": gradients,
    "group": scopes.group,
    "hessians": hessians,
    "initialize_all_variables": variables.global_variables_initializer,
    "is_variable_initialized": variables.is_variable_initialized,
    "local_variables": variables.local_variables,
    "local_variables_initializer": variables.local_variables_initializer,
    "no_op": scopes.no_op,
    "ones_initializer": initializers.ones_initializer,
    "orthogonal_initializer": initializers.orthogonal_initializer,
    "placeholder": placeholder,
    "placeholder_with_default": placeholder_with_default,
    "random_normal": random_normal,
    "random_normal_initializer": initializers.random_normal_initializer,
    "random_uniform": random_uniform,
    "random_uniform_initializer": initializers.random_uniform_initializer,
    "report_uninitialized_variables": variables.report_uninitialized_variables,
    "reset_default_graph": _graph.reset_default_graph,
    "set_random_seed": set_random_seed,
    "to_float": to_float,
    "to_int32": to_int32,
    "to_int64": to_int64,
    "trainable_variables": variables.trainable_variables,
    "truncated_normal": truncated_normal,
    "truncated_normal_initializer": initializers.truncated_normal_initializer,
    "uniform_unit_scaling_initializer": initializers.uniform_unit_scaling_initializer,
    "variable_scope": scopes.variable_scope,
    "variables_initializer": variables.variables_initializer,
    "variance_scaling_initializer": initializers.variance_scaling_initializer,
    "zeros_initializer": initializers.zeros_initializer,
}

NAMES.update(old_functions.NAMES)
_LATER = {  # name → module, loaded when asked for
    **dict.fromkeys(("AttrValue", "GraphDef", "NodeDef", "NameAttrList"), "_proto.framework"),
    **dict.fromkeys(("OptimizerOptions", "GraphOptions"), "_v1.config"),
    **dict.fromkeys(("Event", "HistogramProto", "LogMessage", "SessionLog", "Summary",
                     "TaggedRunMetadata"), "_proto.summary"),
    "import_graph_def": "_v1.graph_def.importing",
    "wrap_function": "_v1.wrapping",
    **dict.fromkeys(("add_check_numerics_ops", "batch_scatter_update", "clip_by_average_norm",
                     "convert_to_tensor_or_indexed_slices", "count_up_to",
                     "fixed_size_partitioner", "min_max_variable_partitioner", "no_regularizer",
                     "variable_axis_size_partitioner", "variable_op_scope"), "_v1.rarely_used"),
    **dict.fromkeys(("PaddingFIFOQueue", "PriorityQueue"), "_v1.train.queues"),
    "graph_util": "_v1.graph_def.rewriting",
    "MetaGraphDef": "_proto.meta_graph",
    "RegisterGradient": "autodiff._registry",
    "NoneTensorSpec": "data._elements",
    "saved_model": "_v1.saved_model",
}  # fmt: skip
_MODULES = ("graph_util", "saved_model")


def find(name):
    """What a name of TensorFlow 1 stands for; None."""
    found = NAMES.get(name)
    if found is None and name in _LATER:
        module = importlib.import_module(f"tidemark.{_LATER[name]}")
        return module if name in _MODULES else getattr(module, name)
    return old_names.find(name) if found is None else found
