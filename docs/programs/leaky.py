"""A training loop that grows: every round keeps a tensor. The README shows what the doctor says."""

import tensorflow as tf

weights = tf.Variable(tf.random.normal([256, 256]))
losses = []


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.square(x @ weights)
    weights.assign_sub(1e-4 * tape.gradient(loss, weights))
    return loss


for _ in range(200):
    losses.append(step(tf.random.normal([64, 256])))
