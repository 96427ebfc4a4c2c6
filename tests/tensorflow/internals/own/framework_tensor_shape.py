"""``tensorflow.python.framework.tensor_shape``: what is not exported under the same name."""

import tensorflow as tf

TensorShapeV1 = TensorShapeV2 = tf.TensorShape


def as_shape(shape):
    return shape if isinstance(shape, tf.TensorShape) else tf.TensorShape(shape)


def unknown_shape(rank=None, **_):
    return tf.TensorShape(None if rank is None else [None] * rank)


def scalar():
    return tf.TensorShape([])


def vector(length):
    return tf.TensorShape([length])


def matrix(rows, columns):
    return tf.TensorShape([rows, columns])
