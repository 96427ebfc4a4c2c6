"""A Python condition. TensorFlow traces once for each value, and keeps both graphs for good."""

import tensorflow as tf


@tf.function
def either(x, squared):
    return tf.square(x) if squared else tf.zeros_like(x)


x = tf.random.normal((1000, 1000))
print(tf.reduce_sum(either(x, True)).numpy() > 0, tf.reduce_sum(either(x, False)).numpy())
