import tensorflow as tf


def remember(x, seen=[0]):
    seen[0] += 1
    return seen[0]


kernel = tf.random.normal([64, 64])
for step in range(150):
    y = tf.tanh(kernel * 0.01 * step)
    remember(y)
