import tensorflow as tf


@tf.function
def step(x, data):
    return x + data


for i in range(60):
    y = step(tf.ones([16384]), tf.constant([float(i)] * 16384))
