"""Ten thousand calls of a loop of a hundred rounds. TensorFlow takes 20 s, all of it overhead."""

import tensorflow as tf


@tf.function
def repeated(x, times):
    total = tf.constant(0.0)
    for _ in tf.range(times):
        total = total + x
    return total


for _ in range(10000):
    y = repeated(tf.constant(1.0), 100)
print(y.numpy())
