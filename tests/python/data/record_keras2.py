"""Records models and weights as Keras 2 wrote them (.h5), and what they give: run with TensorFlow
2.15, the last one that came with it.

    python tests/python/data/record_keras2.py
"""

import json
import os
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).parent / "keras2"
layers = tf.keras.layers


def sequential():
    return tf.keras.Sequential(
        [
            layers.Conv2D(3, 3, padding="same", activation="relu", input_shape=(6, 6, 2)),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(4, activation="softmax", name="head"),
        ]
    )


def functional():
    a, b = layers.Input((5,), name="a"), layers.Input((3,), name="b")
    x = layers.Dense(4, activation="tanh")(a)
    x = layers.Concatenate()([x, b])
    y = layers.Dense(7)(x)
    z = layers.Dense(7, use_bias=False)(x)
    return tf.keras.Model([a, b], layers.Add()([y, z]))


def recurrent():
    return tf.keras.Sequential(
        [
            layers.Embedding(9, 4, input_length=5),
            layers.LSTM(3, return_sequences=True),
            layers.GRU(2),
            layers.Dense(1),
        ]
    )


def drawn(shape, dtype, random):
    shape = [2 if size is None else size for size in shape]
    if dtype == "int32":
        return random.integers(0, 9, shape).astype(np.int32)
    return random.normal(size=shape).astype(np.float32)


def main():
    FOLDER.mkdir(exist_ok=True)
    random, told = np.random.default_rng(1), {}
    for make in (sequential, functional, recurrent):
        tf.keras.utils.set_random_seed(2)
        model, name = make(), make.__name__
        for variable in model.weights:  # none that a fresh model has as well
            variable.assign(random.uniform(0.1, 0.9, variable.shape))
        model.compile("adam", "mse")
        model.save(FOLDER / f"{name}.h5")
        model.save_weights(FOLDER / f"{name}_weights.h5")
        integers = name == "recurrent"
        inputs = [drawn(i.shape, "int32" if integers else "float32", random) for i in model.inputs]
        outputs = model(inputs if len(inputs) > 1 else inputs[0])
        told[name] = {
            "inputs": [value.tolist() for value in inputs],
            "outputs": np.asarray(outputs).tolist(),
        }
    (FOLDER / "results.json").write_text(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
