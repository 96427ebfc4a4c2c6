"""A convolutional autoencoder takes noise out of pictures, and is saved and loaded again."""

import tempfile
from pathlib import Path

import numpy as np

import tidemark as tf

keras = tf.keras
layers = keras.layers
keras.utils.set_random_seed(0)


def discs(count, rng):
    """Pictures of 24 by 24 pixels with a disc each."""
    rows, columns = np.mgrid[:24, :24]
    at, size = rng.uniform(7, 17, (count, 2, 1, 1)), rng.uniform(3, 7, (count, 1, 1))
    far = np.hypot(rows - at[:, 0], columns - at[:, 1])
    return (far < size).astype(np.float32)[..., None]


rng = np.random.default_rng(0)
clean = discs(1000, rng)
noisy = clean + rng.normal(0, 0.4, clean.shape).astype(np.float32)

model = keras.Sequential(
    [
        layers.Input((24, 24, 1)),
        layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(16, name="code"),
        layers.Dense(6 * 6 * 8, activation="relu"),
        layers.Reshape((6, 6, 8)),
        layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(1, 3, padding="same", activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
model.fit(noisy[:900], clean[:900], batch_size=50, epochs=8, verbose=2)

before = np.mean((noisy[900:] - clean[900:]) ** 2)
after = model.evaluate(noisy[900:], clean[900:], verbose=0)
print(f"mean squared error: {before:.3f} in the noisy pictures, {after:.3f} after")
with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder) / "autoencoder.keras")
    again = keras.models.load_model(Path(folder) / "autoencoder.keras")
assert np.array_equal(again.predict(noisy[:5], verbose=0), model.predict(noisy[:5], verbose=0))
assert after < before / 2
