"""Functions of TensorFlow 1 that few programs call: partitioners, counters, checks of values."""

from __future__ import annotations

import contextlib
import math

import tidemark as tf
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._v1.graph import get_default_graph
from tidemark._v1.scopes import group
from tidemark._v1.variable_scopes import variable_scope


def fixed_size_partitioner(num_shards, axis=0):
    """Cuts a variable into so many parts along an axis."""

    def partitioner(shape, **unused):
        parts = [1] * len(shape)
        parts[axis] = min(num_shards, shape.dims[axis].value)
        return parts

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None
):
    """Cuts a variable along an axis so that no part is larger than so many bytes."""
    if max_shard_bytes < 1:
        raise ValueError(f"Argument `max_shard_bytes` must be positive. Received {max_shard_bytes}")

    def partitioner(shape, dtype):
        size = bytes_per_string_element if dtype.base_dtype == tf.string else dtype.size
        parts = [1] * shape.ndims
        along = shape.dims[axis].value
        slice_bytes = size * shape.num_elements() // max(along, 1)
        at_a_time = max(1, max_shard_bytes // max(slice_bytes, 1))
        needed = int(math.ceil(along / at_a_time))
        parts[axis] = min(needed, max_shards, along) if max_shards else min(needed, along)
        return parts

    return partitioner


def min_max_variable_partitioner(
    max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16
):
    """Cuts a variable into as many parts as are at least so many bytes, up to a number of them."""

    def partitioner(shape, dtype):
        size = bytes_per_string_element if dtype.base_dtype == tf.string else dtype.size
        parts = [1] * shape.ndims
        wanted = size * shape.num_elements() / min_slice_size
        parts[axis] = max(1, min(max_partitions, shape.dims[axis].value, int(math.ceil(wanted))))
        return parts

    return partitioner


def no_regularizer(_):
    """No loss, where a scope around would add one."""


def clip_by_average_norm(t, clip_norm, name=None):
    """The tensor scaled down so that its L2 norm over its number of elements is at most that."""
    t = tf.convert_to_tensor(t)
    count = tf.cast(tf.size(t), t.dtype)
    mean = tf.sqrt(tf.reduce_sum(t * t)) / count
    return t * clip_norm / tf.maximum(mean, clip_norm)


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """The value as a tensor; rows of one stay rows."""
    if isinstance(value, IndexedSlices):
        if dtype and not tf.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Incompatible tensor conversion requested to `dtype` {tf.as_dtype(dtype).name} "
                f"for `value` ({value}) with dtype {value.dtype.name}"
            )
        return value
    return tf.convert_to_tensor(value, dtype)


def count_up_to(ref, limit, name=None):
    """The variable's value before it is counted up; OutOfRangeError once it is the limit."""
    before = tf.identity(ref)
    with tf.control_dependencies([before]):
        counted = _checked_count(before, limit)
    with tf.control_dependencies([ref.assign(counted)]):
        return tf.identity(before)


def _checked_count(before, limit):
    def check(value):
        if int(value) >= limit:
            raise tf.errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
        return value + 1

    counted = tf.py_function(check, [before], before.dtype)
    counted.set_shape([])
    return counted


def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """Rows of each matrix of a batch replaced."""
    places = tf.convert_to_tensor(indices)
    rank = places.shape.rank
    grids = [tf.reshape(tf.range(tf.shape(places)[i]), [-1 if j == i else 1 for j in range(rank)])
             for i in range(rank - 1)]  # fmt: skip
    wide = [tf.broadcast_to(tf.cast(g, places.dtype), tf.shape(places)) for g in grids]
    return ref.scatter_nd_update(tf.stack([*wide, places], -1), updates)


def add_check_numerics_ops():
    """An operation that fails where a float of the graph is infinite or no number."""
    if tf.executing_eagerly():
        raise RuntimeError(
            "add_check_numerics_ops() is not compatible with eager execution. To check for Inf's "
            "and NaN's under eager execution, call tf.debugging.enable_check_numerics() once "
            "before executing the checked operations."
        )
    checks = []
    for operation in get_default_graph().get_operations():
        for output in operation.outputs:
            if output.dtype in (tf.float16, tf.float32, tf.float64):
                message = f"{operation.name}:{output.name.rpartition(':')[2]}"
                with tf.control_dependencies(checks):
                    checks = [tf.debugging.check_numerics(output, message)]
    return group(*checks)


@contextlib.contextmanager
def variable_op_scope(values, name_or_scope, default_name=None, initializer=None,
                      regularizer=None, caching_device=None, partitioner=None,
                      custom_getter=None, reuse=None, dtype=None, use_resource=None,
                      constraint=None):  # fmt: skip
    """As variable_scope, with its arguments in another order."""
    with variable_scope(
        name_or_scope, default_name=default_name, values=values, initializer=initializer,
        regularizer=regularizer, caching_device=caching_device, partitioner=partitioner,
        custom_getter=custom_getter, reuse=reuse, dtype=dtype, use_resource=use_resource,
        constraint=constraint,
    ) as scope:  # fmt: skip
        yield scope
