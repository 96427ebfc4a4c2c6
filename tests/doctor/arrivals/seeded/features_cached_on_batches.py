# rule: tensors-gathered
# chain: features
# root: module __main__
# bytes: 25600
import functools

import numpy as np
import tensorflow as tf

projection = tf.random.normal([20, 100]) * 0.1


class Recording:
    def __init__(self, path):
        self.path = path

    def read(self):
        return np.random.default_rng(len(self.path)).random([64, 20], np.float32)

    @functools.cached_property  # HERE
    def features(self):
        return tf.nn.relu(tf.matmul(tf.constant(self.read()), projection))


recordings = [Recording(f"speech/{number:05d}.wav") for number in range(160)]
weights = tf.Variable(tf.random.normal([100, 1]) * 0.1)
for recording in recordings:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(recording.features, weights) - 1.0))
    weights.assign_sub(0.01 * tape.gradient(loss, weights))
print(weights.shape)
