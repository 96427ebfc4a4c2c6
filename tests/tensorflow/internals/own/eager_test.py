"""``tensorflow.python.eager.test``."""

from unittest import mock  # noqa: F401

import tensorflow as tf

TestCase = tf.test.TestCase
main = tf.test.main
get_temp_dir = tf.compat.v1.test.get_temp_dir
is_built_with_cuda = tf.test.is_built_with_cuda
is_built_with_gpu_support = tf.test.is_built_with_gpu_support
is_built_with_rocm = tf.test.is_built_with_rocm
is_built_with_xla = tf.test.is_built_with_xla
is_gpu_available = tf.test.is_gpu_available
gpu_device_name = tf.test.gpu_device_name
disable_with_predicate = tf.test.disable_with_predicate


class Benchmark:
    """Benchmarks are not tests; their classes must be there to be named."""
