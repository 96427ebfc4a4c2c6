"""``tf.compat.v1.Variable``: ``tf.Variable`` with the arguments of TensorFlow 1."""

from __future__ import annotations

import tidemark as tf
from tidemark._graph.scopes import creators
from tidemark._tensor.variable import VariableAggregation, VariableSynchronization


class _VariableType(type(tf.Variable)):
    def __instancecheck__(cls, instance):
        return isinstance(instance, tf.Variable)

    def __subclasscheck__(cls, kind):
        return issubclass(kind, tf.Variable)

    def __call__(
        cls, initial_value=None, trainable=None, collections=None, validate_shape=True,
        caching_device=None, name=None, variable_def=None, dtype=None, expected_shape=None,
        import_scope=None, constraint=None, use_resource=None,
        synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
        shape=None, experimental_enable_variable_lifting=None,
    ):  # fmt: skip
        given = {
            "initial_value": initial_value, "trainable": trainable,
            "validate_shape": validate_shape, "name": name, "dtype": dtype,
            "constraint": constraint, "synchronization": synchronization,
            "aggregation": aggregation, "shape": shape,
        }  # fmt: skip
        if variable_def is not None:
            given.update(variable_def=variable_def, import_scope=import_scope)
        if creators():
            given.update(collections=collections, use_resource=use_resource)
        elif collections is not None and _builds_graph():
            given["collections"] = collections
        return tf.Variable(**given)


def _builds_graph():
    from tidemark._v1.graph import is_building  # only sessions need it

    return not tf.executing_eagerly() and is_building()


class Variable(metaclass=_VariableType):
    """A variable; making one makes a ``tf.Variable``, or one of the graph that is built."""

    SaveSliceInfo = tf.Variable.SaveSliceInfo
