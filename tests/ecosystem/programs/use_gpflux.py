"""gpflux: a deep Gaussian process of two layers is trained."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import gpflux
import numpy as np
import tensorflow as tf
from gpflux.architectures import Config, build_constant_input_dim_deep_gp

tf.random.set_seed(0)
draw = np.random.default_rng(0)
x = draw.uniform(0, 1, (40, 1))
y = np.sin(8 * x)
deep = build_constant_input_dim_deep_gp(
    x, 2, Config(num_inducing=8, inner_layer_qsqrt_factor=1e-5, likelihood_noise_variance=1e-2)
)
assert isinstance(deep, gpflux.models.DeepGP)
model = deep.as_training_model()
model.compile(tf.keras.optimizers.Adam(0.01))
losses = model.fit({"inputs": x, "targets": y}, epochs=20, verbose=0).history["loss"]
assert losses[-1] < losses[0], losses
