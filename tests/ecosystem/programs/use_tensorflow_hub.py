"""TensorFlow Hub: a module is saved, resolved and loaded as a layer."""

import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tensorflow as tf
import tensorflow_hub as hub


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(3.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def __call__(self, x):
        return x * self.factor


with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(Scale(), folder)
    assert hub.resolve(folder) == folder
    loaded = hub.load(folder)
    assert loaded(tf.ones([1, 2])).numpy().tolist() == [[3.0, 3.0]]
    layer = hub.KerasLayer(folder)
    assert layer(tf.ones([4, 2])).shape == (4, 2)
