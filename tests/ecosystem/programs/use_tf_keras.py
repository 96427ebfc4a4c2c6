"""Keras 2: a Sequential and a functional model are trained, saved and read again."""

import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras as keras

assert tf.keras is keras
keras.utils.set_random_seed(7)
keras.utils.disable_interactive_logging()
draw = np.random.default_rng(0)
x = draw.normal(size=(256, 8)).astype("float32")
y = x @ draw.normal(size=(8, 1)).astype("float32") + 0.3

model = keras.Sequential(
    [keras.layers.Dense(16, activation="relu", input_shape=(8,)), keras.layers.Dense(1)]
)
model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
losses = model.fit(x, y, epochs=8, batch_size=32).history["loss"]
assert losses[-1] < losses[0] / 4, losses

inputs = keras.Input((8,))
hidden = keras.layers.BatchNormalization()(keras.layers.Dense(8, activation="tanh")(inputs))
outputs = keras.layers.Dense(1)(keras.layers.concatenate([hidden, tf.square(inputs) * 0.5]))
functional = keras.Model(inputs, outputs)
functional.compile("sgd", "mse")
losses = functional.fit(x, y, epochs=4, validation_split=0.2).history["val_loss"]
assert losses[-1] < losses[0], losses

recurrent = keras.Sequential(
    [keras.layers.Embedding(50, 8), keras.layers.LSTM(8), keras.layers.Dense(1)]
)
recurrent.compile("rmsprop", "mse")
recurrent.fit(draw.integers(0, 50, (64, 7)), y[:64], epochs=1)

with tempfile.TemporaryDirectory() as folder:
    before = model.predict(x[:5])
    for name in ("weights.h5", "weights", "model.keras", "model.h5"):
        path = os.path.join(folder, name)
        if name.startswith("weights"):
            model.save_weights(path)
            model.set_weights([np.zeros_like(w) for w in model.get_weights()])
            model.load_weights(path)
            again = model
        else:
            model.save(path)
            again = keras.models.load_model(path)
        np.testing.assert_allclose(again.predict(x[:5]), before, rtol=1e-6)
