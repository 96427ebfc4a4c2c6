"""Functions that take more, or other, arguments in TensorFlow 1: ``keep_dims``, ``dimension`` …"""

from __future__ import annotations

import numpy as np

import tidemark as tf


def _either(new, old, new_name, old_name, default=None):
    if new is not None and old is not None:
        raise ValueError(f"{new_name} and {old_name} are the same thing told twice; give one")
    chosen = old if new is None else new
    return default if chosen is None else chosen


def _reduction(name):
    function = getattr(tf, name)

    def reduction(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None,
                  keep_dims=None):  # fmt: skip
        axis = _either(axis, reduction_indices, "axis", "reduction_indices")
        keepdims = _either(keepdims, keep_dims, "keepdims", "keep_dims", False)
        return function(input_tensor, axis, keepdims, name=name)

    reduction.__name__ = reduction.__qualname__ = name
    reduction.__doc__ = function.__doc__
    return reduction


reduce_all = _reduction("reduce_all")
reduce_any = _reduction("reduce_any")
reduce_logsumexp = _reduction("reduce_logsumexp")
reduce_max = _reduction("reduce_max")
reduce_mean = _reduction("reduce_mean")
reduce_min = _reduction("reduce_min")
reduce_prod = _reduction("reduce_prod")
reduce_sum = _reduction("reduce_sum")


def argmax(input, axis=None, name=None, dimension=None, output_type=tf.int64):
    """Where the largest element is along the axis."""
    axis = _either(axis, dimension, "axis", "dimension", 0)
    return tf.argmax(input, axis, output_type, name)


def argmin(input, axis=None, name=None, dimension=None, output_type=tf.int64):
    """Where the smallest element is along the axis."""
    axis = _either(axis, dimension, "axis", "dimension", 0)
    return tf.argmin(input, axis, output_type, name)


def expand_dims(input, axis=None, name=None, dim=None):
    """A dimension of size one more."""
    return tf.expand_dims(input, _either(axis, dim, "axis", "dim"), name)


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """Without dimensions of size one."""
    return tf.squeeze(input, _either(axis, squeeze_dims, "axis", "squeeze_dims"), name)


def count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=tf.int64, name=None,
                  reduction_indices=None, keep_dims=None, input=None):  # fmt: skip
    """How many elements are not zero."""
    axis = _either(axis, reduction_indices, "axis", "reduction_indices")
    keepdims = _either(keepdims, keep_dims, "keepdims", "keep_dims", False)
    return tf.math.count_nonzero(input if input_tensor is None else input_tensor, axis, keepdims,
                                 dtype)  # fmt: skip


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):
    """The norm of vectors or matrices."""
    return tf.norm(tensor, ord, axis, _either(keepdims, keep_dims, "keepdims", "keep_dims", False))


def transpose(a, perm=None, name="transpose", conjugate=False):
    """Dimensions in another order."""
    return tf.transpose(a, perm, conjugate)


def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """Zeros of the tensor's shape."""
    return tf.zeros_like(tensor, dtype)


def ones_like(tensor, dtype=None, name=None, optimize=True):
    """Ones of the tensor's shape."""
    return tf.ones_like(tensor, dtype)


def shape(input, name=None, out_type=tf.int32):
    """The sizes of the dimensions."""
    return tf.shape(input, out_type)


def size(input, name=None, out_type=tf.int32):
    """How many elements there are."""
    return tf.size(input, out_type)


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A tensor of the value; the last of too few values fills the rest of a given shape."""
    if shape is not None and not isinstance(value, tf.Tensor):
        value = _filled(np.asarray(value), tf.TensorShape(shape), verify_shape)
    made = tf.constant(value, dtype, shape)
    if name != "Const":
        from tidemark._v1.graph import name_result  # only sessions need it

        name_result(made, name)
    return made


def _filled(values, shape, verify_shape):
    if verify_shape and values.shape != tuple(shape):
        raise TypeError(f"Expected Tensor's shape: {shape}, got {values.shape}.")
    count = shape.num_elements()
    if count is None or values.size in (0, 1, count):
        return values
    if values.size > count:
        raise ValueError(f"Too many elements provided. Needed at most {count}, but received "
                         f"{values.size}")  # fmt: skip
    rest = np.full(count - values.size, values.ravel()[-1], values.dtype)
    return np.concatenate([values.ravel(), rest])


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    """The value as a tensor."""
    return tf.convert_to_tensor(value, dtype, dtype_hint or preferred_dtype)


class name_scope(tf.name_scope):
    """A context whose name stands before the names made inside it."""

    def __init__(self, name, default_name=None, values=None):
        super().__init__(name or default_name or "")
