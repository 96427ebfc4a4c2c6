"""Named and unnamed steps. TensorFlow's graph is the same for both: so is its peak."""

import tensorflow as tf


@tf.function
def named(x):
    y = tf.square(x)
    z = tf.multiply(y, 2.0)
    return tf.add(z, 1.0)


@tf.function
def nested(x):
    return tf.add(tf.multiply(tf.square(x), 2.0), 1.0)


x = tf.random.normal((1000, 1000))
print(tf.reduce_all(named(x) == nested(x)).numpy())
