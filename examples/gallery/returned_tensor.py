"""A result handed on through a function. Nothing leaks in TensorFlow either; it only looks so."""

import tensorflow as tf

kernel = tf.Variable(tf.random.normal([5, 10]))


def predicted(x):
    hidden = tf.matmul(x, kernel)
    return hidden


x = tf.random.normal((1, 5))
for _ in range(20000):
    y = predicted(x)
print(y.shape)
