"""Functions at the top level that few programs call."""

from __future__ import annotations

import time

import tidemark as tf
from tidemark.errors import InvalidArgumentError


def approx_top_k(operand, k, reduction_dimension=-1, recall_target=0.95, is_max_k=True,
                 reduction_input_size_override=-1, aggregate_to_topk=True, name=None):  # fmt: skip
    """The k largest, or smallest, along an axis, and where they are: all of them are found."""
    values = tf.convert_to_tensor(operand)
    order = [d for d in range(values.shape.rank) if d != reduction_dimension % values.shape.rank]
    order.append(reduction_dimension % values.shape.rank)
    back = sorted(range(len(order)), key=order.__getitem__)
    last = tf.transpose(values, order)
    found = tf.math.top_k(last if is_max_k else -last, k)
    best = found.values if is_max_k else -found.values
    return tf.transpose(best, back), tf.transpose(found.indices, back)


def guarantee_const(input, name=None):
    """The value, of which the caller says that it never changes."""
    return tf.identity(input)


def timestamp(name=None):
    """The seconds since 1970, whenever it runs."""
    return tf.numpy_function(time.time, [], tf.float64)


def ragged_fill_empty_rows(value_rowids, values, nrows, default_value, name=None):
    """Rows without a value get one; also which rows those were, and where each value went."""
    rows, values = tf.convert_to_tensor(value_rowids, tf.int64), tf.convert_to_tensor(values)
    count = tf.cast(nrows, tf.int64)
    held = tf.math.unsorted_segment_sum(tf.ones_like(rows), rows, count)
    is_empty = tf.equal(held, 0)
    added = tf.reshape(tf.where(is_empty), [-1])
    filled = tf.fill(tf.shape(added), tf.cast(default_value, values.dtype))
    all_rows = tf.concat([rows, added], 0)
    order = tf.argsort(all_rows, stable=True)
    places = tf.cast(tf.math.invert_permutation(order), tf.int64)[: tf.size(rows)]
    everything = tf.gather(tf.concat([values, filled], 0), order)
    return tf.gather(all_rows, order), everything, is_empty, places


def ragged_fill_empty_rows_grad(reverse_index_map, grad_values, name=None):
    """The gradients of the values that were there, and of the one that filled empty rows."""
    grads, places = tf.convert_to_tensor(grad_values), tf.convert_to_tensor(reverse_index_map)
    if grads.shape.rank not in (None, 1):
        raise InvalidArgumentError(None, None, f"grad_values must be a vector, saw: {grads.shape}")
    taken = tf.gather(grads, places)
    was_there = tf.math.unsorted_segment_sum(tf.ones_like(places), places, tf.size(grads)) > 0
    return taken, tf.reduce_sum(tf.where(was_there, tf.zeros_like(grads), grads))
