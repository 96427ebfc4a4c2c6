"""The models of the Keras benchmarks, for Keras on any backend with TensorFlow's names.

``WORK[name](keras)`` gives a function of no arguments: what is timed.
"""

from __future__ import annotations

import gzip

import numpy as np

FASHION = "/usr/share/datasets/fashion-mnist/train-{}-ubyte.gz"


def pictures(count):
    """Fashion-MNIST where it is installed, otherwise noise of its shape: it takes the same time."""
    try:
        with gzip.open(FASHION.format("images-idx3")) as file:
            images = np.frombuffer(file.read(16 + count * 784), np.uint8, offset=16)
        with gzip.open(FASHION.format("labels-idx1")) as file:
            labels = np.frombuffer(file.read(8 + count), np.uint8, offset=8)
        return images.reshape(-1, 28, 28, 1), labels.astype(np.int32)
    except FileNotFoundError:
        rng = np.random.default_rng(0)
        images = rng.integers(0, 256, (count, 28, 28, 1), dtype=np.uint8)
        return images, rng.integers(0, 10, count, dtype=np.int32)


def classifier(keras):
    """The main job's model."""
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Rescaling(1 / 255),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(128, activation="relu"),
            layers.Dropout(0.3),
            layers.Dense(10),
        ]
    )


def compiled(keras, model, from_logits=True, metrics=()):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=from_logits)
    model.compile(optimizer="adam", loss=loss, metrics=list(metrics))
    return model


def fit(keras, count=20_000):
    """An epoch of the main job on some of its pictures."""
    images, labels = pictures(count)
    model = compiled(keras, classifier(keras), metrics=["accuracy"])
    return lambda: model.fit(images, labels, batch_size=100, verbose=0)


def resnet(keras):
    return keras.applications.ResNet50(weights=None, input_shape=(128, 128, 3), classes=10)


def resnet_step(keras):
    """A training step of ResNet50 with 8 pictures of 128 by 128."""
    model = compiled(keras, resnet(keras), from_logits=False)
    rng = np.random.default_rng(0)
    images = rng.standard_normal((8, 128, 128, 3), dtype=np.float32)
    labels = rng.integers(0, 10, 8)
    return lambda: model.train_on_batch(images, labels)


def resnet_one(keras):
    """ResNet50 of one picture."""
    model = resnet(keras)
    image = np.random.default_rng(0).standard_normal((1, 128, 128, 3), dtype=np.float32)
    return lambda: model.predict_on_batch(image)


def gpt(keras, vocabulary=1000, length=128, batch=8, width=256, heads=4, blocks=4):
    """A training step of the GPT in models.py, of Keras's layers."""
    layers = keras.layers

    class Block(layers.Layer):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()
            self.attention = layers.MultiHeadAttention(heads, width // heads)
            self.up = layers.Dense(4 * width, activation="gelu")
            self.down = layers.Dense(width)

        def call(self, x):
            h = self.norm1(x)
            x = x + self.attention(h, h, use_causal_mask=True)
            return x + self.down(self.up(self.norm2(x)))

    model = keras.Sequential(
        [
            layers.Input((length,), dtype="int32"),
            layers.Embedding(vocabulary, width),
            *(Block() for _ in range(blocks)),
            layers.LayerNormalization(),
            layers.Dense(vocabulary),
        ]
    )
    compiled(keras, model)
    rng = np.random.default_rng(0)
    tokens, following = rng.integers(0, vocabulary, (2, batch, length), dtype=np.int32)
    return lambda: model.train_on_batch(tokens, following)


def predict(keras):
    """model.predict of a small model on one batch."""
    layers = keras.layers
    model = keras.Sequential(
        [layers.Input((20,)), layers.Dense(64, activation="relu"), layers.Dense(3)]
    )
    rows = np.random.default_rng(0).standard_normal((32, 20), dtype=np.float32)
    return lambda: model.predict(rows, verbose=0)


WORK = {
    "fit": fit,
    "ResNet50 step": resnet_step,
    "ResNet50 of 1": resnet_one,
    "GPT step": gpt,
    "predict": predict,
}
