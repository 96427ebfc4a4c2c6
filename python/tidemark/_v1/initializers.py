"""Initializers of TensorFlow 1: objects called with a shape and a dtype."""

from __future__ import annotations

import math

import tidemark as tf
from tidemark import dtypes


class Initializer:
    """Called with (shape, dtype=None, partition_info=None)."""

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtype


class zeros_initializer(Initializer):
    def __call__(self, shape, dtype=None, partition_info=None):
        return tf.zeros(shape, dtype or self.dtype)


class ones_initializer(Initializer):
    def __call__(self, shape, dtype=None, partition_info=None):
        return tf.ones(shape, dtype or self.dtype)


class constant_initializer(Initializer):
    def __init__(self, value=0, dtype=dtypes.float32, verify_shape=False):
        super().__init__(dtype)
        self.value = value

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None):
        return tf.constant(self.value, dtype=dtype or self.dtype, shape=shape)


class random_normal_initializer(Initializer):
    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(dtype)
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        dtype = dtype or self.dtype
        return tf.random.normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class truncated_normal_initializer(random_normal_initializer):
    def __call__(self, shape, dtype=None, partition_info=None):
        dtype = dtype or self.dtype
        return tf.random.truncated_normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class random_uniform_initializer(Initializer):
    def __init__(self, minval=-0.05, maxval=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(dtype)
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        dtype = dtype or self.dtype
        return tf.random.uniform(shape, self.minval, self.maxval, dtype, seed=self.seed)


def _fans(shape):
    shape = [int(size) for size in shape]
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class variance_scaling_initializer(Initializer):
    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None,
                 dtype=dtypes.float32):  # fmt: skip
        super().__init__(dtype)
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError(f"Argument `mode` should be fan_in, fan_out or fan_avg. Got {mode}")
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        dtype = dtype or self.dtype
        inputs, outputs = _fans(shape)
        fans = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2.0}
        scale = self.scale / max(1.0, fans[self.mode])
        if self.distribution in ("normal", "truncated_normal"):
            stddev = math.sqrt(scale) / 0.87962566103423978
            return tf.random.truncated_normal(shape, 0.0, stddev, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return tf.random.normal(shape, 0.0, math.sqrt(scale), dtype, seed=self.seed)
        limit = math.sqrt(3.0 * scale)
        return tf.random.uniform(shape, -limit, limit, dtype, seed=self.seed)


class glorot_uniform_initializer(variance_scaling_initializer):
    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class glorot_normal_initializer(variance_scaling_initializer):
    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


class orthogonal_initializer(Initializer):
    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(dtype)
        self.gain, self.seed = gain, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        rows, columns = math.prod(shape[:-1]), shape[-1]
        sizes = (max(rows, columns), min(rows, columns))
        q, r = tf.linalg.qr(tf.random.normal(sizes, seed=self.seed, dtype=dtype or self.dtype))
        q *= tf.sign(tf.linalg.diag_part(r))
        if rows < columns:
            q = tf.linalg.matrix_transpose(q)
        return self.gain * tf.reshape(q, shape)


class identity_initializer(Initializer):
    def __init__(self, gain=1.0, dtype=dtypes.float32):
        super().__init__(dtype)
        self.gain = gain

    def __call__(self, shape, dtype=None, partition_info=None):
        return self.gain * tf.eye(*shape, dtype=dtype or self.dtype)


class uniform_unit_scaling_initializer(Initializer):
    """Uniform numbers whose products with inputs of size 1 have size ``factor``."""

    def __init__(self, factor=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(dtype)
        self.factor, self.seed = factor, seed

    def __call__(self, shape, dtype=None, partition_info=None):
        inputs = math.prod(int(size) for size in shape[:-1])
        limit = math.sqrt(3 / max(1.0, inputs)) * self.factor
        return tf.random.uniform(shape, -limit, limit, dtype or self.dtype, seed=self.seed)


def he_normal(seed=None):
    return variance_scaling_initializer(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed=None):
    return variance_scaling_initializer(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed=None):
    return variance_scaling_initializer(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed=None):
    return variance_scaling_initializer(1.0, "fan_in", "uniform", seed)
