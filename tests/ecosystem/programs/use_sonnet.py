"""Sonnet: an MLP, a convolution and an LSTM are trained a few steps."""

import numpy as np
import sonnet as snt
import tensorflow as tf

tf.random.set_seed(1)
x = tf.random.normal([64, 8])
y = tf.reduce_sum(x, 1, keepdims=True)
mlp = snt.nets.MLP([16, 1])
optimizer = snt.optimizers.Adam(0.02)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((mlp(x) - y) ** 2)
    variables = mlp.trainable_variables
    optimizer.apply(tape.gradient(loss, variables), variables)
    return loss


mlp(x)
optimizer._initialize(mlp.trainable_variables)
losses = [float(step()) for _ in range(40)]
assert losses[-1] < losses[0] / 4, losses

image = snt.Sequential([snt.Conv2D(4, 3), tf.nn.relu, snt.Flatten(), snt.Linear(2)])
assert image(tf.ones([2, 8, 8, 3])).shape == (2, 2)
core = snt.LSTM(5)
outputs, state = snt.dynamic_unroll(core, tf.ones([6, 3, 4]), core.initial_state(3))
assert outputs.shape == (6, 3, 5) and np.isfinite(outputs.numpy()).all()
