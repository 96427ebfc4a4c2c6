"""Recommenders: a retrieval model with two towers is trained."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tensorflow_recommenders as tfrs
import tf_keras as keras

keras.utils.set_random_seed(0)
keras.utils.disable_interactive_logging()


class Towers(tfrs.Model):
    def __init__(self):
        super().__init__()
        self.users = keras.layers.Embedding(20, 8)
        self.items = keras.layers.Embedding(30, 8)
        self.task = tfrs.tasks.Retrieval()

    def compute_loss(self, inputs, training=False):
        return self.task(self.users(inputs["user"]), self.items(inputs["item"]))


draw = np.random.default_rng(0)
data = {"user": draw.integers(0, 20, 256), "item": draw.integers(0, 30, 256)}
data["item"] = data["user"]
model = Towers()
model.compile(keras.optimizers.Adagrad(0.5))
losses = model.fit(tf.data.Dataset.from_tensor_slices(data).batch(64), epochs=4).history["loss"]
assert losses[-1] < losses[0], losses
