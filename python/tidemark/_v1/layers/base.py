"""``tf.compat.v1.layers.Layer``: variables under a scope of the layer's own, made on first use."""

from __future__ import annotations

import contextlib
import re

import tidemark as tf
from tidemark._v1.graph import name_result
from tidemark._v1.scopes import VariableScope, get_variable, variable_scope


def snake_case(name):
    """``Conv2DTranspose`` → ``conv2d_transpose``."""
    name = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().lstrip("_")


class Layer:
    """Subclasses define ``build(input_shape)`` and ``call(inputs)``."""

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        self._given_scope, self._reuse = kwargs.pop("_scope", None), kwargs.pop("_reuse", None)
        kwargs.pop("activity_regularizer", None)
        if kwargs:
            raise TypeError(f"{type(self).__name__} got unexpected arguments: {sorted(kwargs)}")
        self.trainable, self._name, self._dtype = trainable, name, dtype
        self._scope, self.built = None, False
        self._variables = []

    name = property(lambda self: self._name or self._base_name())
    scope_name = property(lambda self: None if self._scope is None else self._scope.name)
    variables = property(lambda self: list(self._variables))
    weights = variables
    dtype = property(lambda self: self._dtype)

    @property
    def trainable_variables(self):
        return [v for v in self._variables if v.trainable]

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self):
        return [v for v in self._variables if not v.trainable]

    def _base_name(self):
        return snake_case(type(self).__name__)

    def _entered(self, scope=None):
        """The layer's variable scope, as it was the first time."""
        if self._scope is not None:
            return variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        given = scope if scope is not None else self._given_scope
        if isinstance(given, VariableScope):
            return variable_scope(given, reuse=self._reuse)
        if given is None and self._name is None:
            return variable_scope(None, default_name=self._base_name())
        return variable_scope(given or self._name, reuse=self._reuse)

    def add_variable(self, name, shape, dtype=None, initializer=None, regularizer=None,
                     trainable=True, constraint=None):  # fmt: skip
        """A variable of the layer."""
        made = get_variable(
            name, shape, dtype or self._dtype or tf.float32, initializer, regularizer,
            trainable and self.trainable, constraint=constraint,
        )  # fmt: skip
        if not any(v is made for v in self._variables):
            self._variables.append(made)
        return made

    add_weight = add_variable

    def build(self, input_shape):
        self.built = True

    def call(self, inputs, *args, **kwargs):
        return inputs

    @contextlib.contextmanager
    def ready(self, inputs, scope=None):
        """The layer's scope, in which its variables are there."""
        with self._entered(scope) as entered:
            self._scope = self._scope or entered
            if not self.built:
                if self._dtype is None and hasattr(inputs, "dtype"):
                    self._dtype = inputs.dtype
                shape = tf.nest.map_structure(lambda t: t.shape, inputs)
                self.build(shape)
                self.built = True
            yield entered

    def __call__(self, inputs, *args, scope=None, **kwargs):
        inputs = tf.nest.map_structure(tf.convert_to_tensor, inputs)
        with self.ready(inputs, scope):
            return self.call(inputs, *args, **kwargs)

    def apply(self, inputs, *args, **kwargs):
        return self(inputs, *args, **kwargs)

    def _named(self, tensor, name):
        """The tensor under a name inside the layer's scope, as TensorFlow's ops have."""
        name_result(tensor, name)
        return tensor

    def _activated(self, tensor):
        if self.activation is None:
            return tensor
        activation = self.activation
        if isinstance(activation, str):
            activation = getattr(tf.nn, activation, None) or getattr(tf.math, activation)
        out = activation(tensor)
        name = getattr(activation, "__name__", "activation")
        if isinstance(out, tf.Tensor) and out is not tensor and name.isidentifier():
            self._named(out, name.capitalize())
        return out


def last_size(shape, axis, what):
    """The size that the variables' shapes need."""
    size = None if shape.rank is None else shape[axis]
    if size is None:
        raise ValueError(f"The {what} of the inputs should be defined. Found `None`.")
    return int(size)
