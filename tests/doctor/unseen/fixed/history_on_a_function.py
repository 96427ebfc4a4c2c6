import tensorflow as tf


def step(x):
    y = tf.exp(-x)
    step.history.append(float(tf.reduce_sum(y)))
    return tf.reduce_sum(y)


step.history = []
for i in range(130):
    loss = step(tf.random.uniform([64, 64]))
