"""larq: a layer with binary weights is trained."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import larq
import numpy as np
import tf_keras as keras

keras.utils.set_random_seed(0)
keras.utils.disable_interactive_logging()
model = keras.Sequential(
    [larq.layers.QuantDense(4, kernel_quantizer="ste_sign", kernel_constraint="weight_clip",
                            input_shape=(8,)), keras.layers.Dense(1)]
)  # fmt: skip
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
losses = model.fit(x, x[:, :1], epochs=3).history["loss"]
assert losses[-1] < losses[0], losses
