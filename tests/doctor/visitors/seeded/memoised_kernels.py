# rule: tensors-gathered
# bytes: 16384
import functools

import tensorflow as tf


@functools.cache  # HERE
def kernel(bandwidth):
    """The weights of neighbours at a bandwidth."""
    grid = tf.range(64, dtype=tf.float32)
    distances = tf.square(tf.expand_dims(grid, 0) - tf.expand_dims(grid, 1))
    return tf.exp(-distances / bandwidth)


def smooth(signal, step):
    bandwidth = 0.5 + 10.0 * 0.99**step
    return tf.matmul(kernel(bandwidth), signal) / 64.0


signal = tf.random.normal([64, 4])
for step in range(200):
    signal = signal + 0.01 * smooth(signal, step)
print(signal.shape)
