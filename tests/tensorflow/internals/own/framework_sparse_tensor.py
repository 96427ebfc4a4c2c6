"""``tensorflow.python.framework.sparse_tensor``: what is not exported under the same name."""

import tensorflow as tf


def is_sparse(value):
    return isinstance(value, (tf.SparseTensor, tf.compat.v1.SparseTensorValue))
