"""A variable and a tape a round. TensorFlow frees them when the cycle collector comes by."""

import tensorflow as tf

for _ in range(1000):
    with tf.GradientTape() as tape:
        weights = tf.Variable(tf.random.normal([100, 100]))
        loss = tf.reduce_sum(weights)
    gradient = tape.gradient(loss, weights)
print(gradient.shape)
