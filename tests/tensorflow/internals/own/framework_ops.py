"""``tensorflow.python.framework.ops``: what is not exported under the same name."""

import tensorflow as tf


class _OfValues(type):
    def __instancecheck__(cls, value):
        return tf.is_tensor(value) and not tf.is_symbolic_tensor(value)


class EagerTensor(metaclass=_OfValues):
    """Tensors that have a value. Asking one for its class would set up the devices."""


Tensor = tf.Tensor
convert_to_tensor = tf.compat.v1.convert_to_tensor
convert_to_tensor_v2 = tf.convert_to_tensor
executing_eagerly_outside_functions = tf.compat.v1.executing_eagerly_outside_functions
internal_convert_to_tensor = tf.compat.v1.convert_to_tensor
name_scope = tf.compat.v1.name_scope
inside_function = tf.inside_function


def dismantle_graph(graph):
    pass


def enable_eager_execution(*args, **kwargs):
    pass


def get_name_scope():
    with tf.name_scope("inner") as scope:
        return scope.rpartition("inner")[0].rstrip("/")
