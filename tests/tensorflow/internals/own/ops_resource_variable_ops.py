"""``tensorflow.python.ops.resource_variable_ops``: variables by resource are the public ones."""

import tensorflow as tf


class _OfEitherMode(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (tf.Variable, tf.compat.v1.Variable))

    def __call__(cls, *args, **kwargs):
        if tf.executing_eagerly():
            kwargs.pop("collections", None)
        return tf.compat.v1.Variable(*args, use_resource=True, **kwargs)


class ResourceVariable(metaclass=_OfEitherMode):
    """Makes a variable as ``tf.compat.v1.Variable(use_resource=True)`` does."""


BaseResourceVariable = ResourceVariable


def is_resource_variable(value):
    return isinstance(value, (tf.Variable, tf.compat.v1.Variable))
