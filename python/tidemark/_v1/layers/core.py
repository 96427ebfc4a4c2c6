"""``dense``, ``flatten``, ``dropout`` and ``batch_normalization``."""

from __future__ import annotations

import math

import tidemark as tf
from tidemark import _tidemark
from tidemark._v1.graph import GraphKeys, get_default_graph
from tidemark._v1.initializers import ones_initializer, zeros_initializer
from tidemark._v1.layers.base import Layer, last_size


class Dense(Layer):
    """``activation(inputs @ kernel + bias)``."""

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=None, kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
                 trainable=True, name=None, **kwargs):  # fmt: skip
        super().__init__(trainable, name, **kwargs)
        self.units, self.activation, self.use_bias = int(units), activation, use_bias
        self.kernel_initializer, self.kernel_regularizer = kernel_initializer, kernel_regularizer
        self.bias_initializer = bias_initializer or zeros_initializer()
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint

    def build(self, input_shape):
        size = last_size(input_shape, -1, "last dimension")
        self.kernel = self.add_variable(
            "kernel", [size, self.units], self._dtype, self.kernel_initializer,
            self.kernel_regularizer, True, self.kernel_constraint,
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_variable(
                "bias", [self.units], self._dtype, self.bias_initializer, self.bias_regularizer,
                True, self.bias_constraint,
            )  # fmt: skip
        self.built = True

    def call(self, inputs):
        if inputs.shape.rank > 2:
            out = tf.tensordot(inputs, self.kernel, [[inputs.shape.rank - 1], [0]])
        else:
            out = tf.matmul(inputs, self.kernel, name="MatMul")
        if self.bias is not None:
            out = self._named(tf.nn.bias_add(out, self.bias), "BiasAdd")
        return self._activated(out)


class Flatten(Layer):
    """All dimensions but the batch in one."""

    def __init__(self, data_format="channels_last", **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format

    def call(self, inputs):
        rank = inputs.shape.rank
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = tf.transpose(inputs, [0, *range(2, rank), 1])
        sizes = None if rank is None else inputs.shape.as_list()[1:]
        if sizes is None or None in sizes:
            return tf.reshape(inputs, [tf.shape(inputs)[0], -1])
        return self._named(tf.reshape(inputs, [-1, math.prod(sizes)]), "Reshape")


class Dropout(Layer):
    """While training, a part of the inputs becomes zero and the rest larger."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs, training=False):
        def dropped():
            return tf.nn.dropout(inputs, self.rate, self.noise_shape, self.seed)

        return chosen(training, dropped, lambda: tf.identity(inputs))


def chosen(training, when_true, when_false):
    """One of the two now where ``training`` is known, when the graph runs where it is a tensor."""
    known = training
    if isinstance(training, tf.Tensor):
        known = _tidemark.static_value(training)
        if known is None:
            return tf.cond(tf.cast(training, tf.bool), when_true, when_false)
        known = bool(known.numpy()) if hasattr(known, "numpy") else bool(known)
    elif not isinstance(training, (bool, int, type(None))):
        return tf.cond(tf.cast(training, tf.bool), when_true, when_false)
    return when_true() if known else when_false()


class BatchNormalization(Layer):
    """Each feature with mean zero and variance one over the batch; moving averages otherwise."""

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True,
                 beta_initializer=None, gamma_initializer=None, moving_mean_initializer=None,
                 moving_variance_initializer=None, beta_regularizer=None, gamma_regularizer=None,
                 beta_constraint=None, gamma_constraint=None, renorm=False, renorm_clipping=None,
                 renorm_momentum=0.99, fused=None, trainable=True, virtual_batch_size=None,
                 adjustment=None, name=None, **kwargs):  # fmt: skip
        super().__init__(trainable, name, **kwargs)
        if renorm or virtual_batch_size is not None or adjustment is not None:
            raise NotImplementedError(
                "renorm, virtual_batch_size and adjustment of batch_normalization are not offered"
            )
        self.axis = axis[0] if isinstance(axis, (list, tuple)) else axis
        self.momentum, self.epsilon = momentum, epsilon
        self.center, self.scale, self.fused = center, scale, fused
        self._initializers = {
            "beta": beta_initializer or zeros_initializer(),
            "gamma": gamma_initializer or ones_initializer(),
            "moving_mean": moving_mean_initializer or zeros_initializer(),
            "moving_variance": moving_variance_initializer or ones_initializer(),
        }
        self._regularizers = {"beta": beta_regularizer, "gamma": gamma_regularizer}
        self._constraints = {"beta": beta_constraint, "gamma": gamma_constraint}

    def _parameter(self, name, size, dtype, trainable):
        return self.add_variable(
            name, [size], dtype, self._initializers[name], self._regularizers.get(name),
            trainable, self._constraints.get(name),
        )  # fmt: skip

    def build(self, input_shape):
        size = last_size(input_shape, self.axis, "normalized dimension")
        self._rank = input_shape.rank
        dtype = self._dtype if self._dtype.name == "float64" else tf.float32
        self.gamma = self._parameter("gamma", size, dtype, True) if self.scale else None
        self.beta = self._parameter("beta", size, dtype, True) if self.center else None
        self.moving_mean = self._parameter("moving_mean", size, dtype, False)
        self.moving_variance = self._parameter("moving_variance", size, dtype, False)
        self.built = True

    def _is_fused(self):
        """TensorFlow's fused kernel corrects the variance it remembers for the batch's size."""
        return self.fused is not False and self._rank == 4

    def _remember(self, mean, variance, count, training):
        if self._is_fused():
            count = tf.cast(count, variance.dtype)
            variance = variance * count / tf.maximum(count - 1.0, 1.0)
        for moving, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
            step = (moving - tf.cast(value, moving.dtype)) * (1.0 - self.momentum)
            if isinstance(training, tf.Tensor):
                step = tf.where(tf.cast(training, tf.bool), step, tf.zeros_like(step))
            update = moving.assign_sub(step)
            get_default_graph().add_to_collection(GraphKeys.UPDATE_OPS, update)

    def call(self, inputs, training=False):
        axis = self.axis % self._rank
        others = [i for i in range(self._rank) if i != axis]
        x = inputs if inputs.dtype.name in ("float32", "float64") else tf.cast(inputs, tf.float32)
        mean, variance = self.moving_mean.value(), self.moving_variance.value()
        if isinstance(training, (bool, int, type(None))):
            if training:
                mean, variance = tf.nn.moments(x, others)
                count = tf.size(x) // tf.size(mean)
                self._remember(mean, variance, count, True)
        else:
            flag = tf.cast(training, tf.bool)
            batch_mean, batch_variance = tf.nn.moments(x, others)
            self._remember(batch_mean, batch_variance, tf.size(x) // tf.size(mean), flag)
            mean = tf.where(flag, batch_mean, mean)
            variance = tf.where(flag, batch_variance, variance)
        shape = [1] * self._rank
        shape[axis] = -1
        spread = lambda t: None if t is None else tf.reshape(t, shape)  # noqa: E731
        if axis == self._rank - 1:
            spread = lambda t: t if t is None else tf.convert_to_tensor(t)  # noqa: E731
        out = tf.nn.batch_normalization(
            x, spread(mean), spread(variance), spread(self.beta), spread(self.gamma), self.epsilon
        )
        return out if out.dtype == inputs.dtype else tf.cast(out, inputs.dtype)
