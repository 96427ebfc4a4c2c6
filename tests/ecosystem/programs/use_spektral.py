"""Spektral: a graph convolution is trained."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from spektral.layers import GCNConv
from spektral.utils import gcn_filter

tf.random.set_seed(0)
draw = np.random.default_rng(0)
adjacency = gcn_filter((draw.random((10, 10)) < 0.3).astype("float32"))
features = tf.constant(draw.normal(size=(10, 4)).astype("float32"))
layer = GCNConv(2)
optimizer = tf.keras.optimizers.legacy.SGD(0.1)
target = tf.zeros([10, 2])
losses = []
for _ in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer([features, tf.constant(adjacency)]) - target) ** 2)
    variables = layer.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    losses.append(float(loss))
assert losses[-1] < losses[0], losses
