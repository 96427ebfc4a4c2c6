"""Keras Tuner: a random search finds the number of units that fits best."""

import tempfile

import keras
import keras_tuner
import numpy as np

keras.utils.set_random_seed(3)
keras.utils.disable_interactive_logging()
draw = np.random.default_rng(0)
x = draw.normal(size=(128, 4)).astype("float32")
y = np.tanh(x @ draw.normal(size=(4, 2))).sum(1, keepdims=True).astype("float32")


def build(hp):
    units = hp.Int("units", 1, 9, step=4)
    model = keras.Sequential([keras.layers.Dense(units, activation="tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(hp.Choice("rate", [0.03, 0.0001])), "mse")
    return model


with tempfile.TemporaryDirectory() as folder:
    tuner = keras_tuner.RandomSearch(
        build, objective="val_loss", max_trials=4, seed=1, directory=folder, project_name="search"
    )
    tuner.search(x, y, epochs=6, validation_split=0.25, verbose=0)
    best = tuner.get_best_hyperparameters()[0]
    assert best.get("rate") == 0.03, best.values
    model = tuner.get_best_models()[0]
    assert model.evaluate(x, y) < np.var(y)
    assert len(tuner.oracle.trials) == 4
