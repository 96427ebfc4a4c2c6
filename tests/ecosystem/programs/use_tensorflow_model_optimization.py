"""Model Optimization: a model is pruned while it is trained."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow_model_optimization as tfmot
import tf_keras as keras

keras.utils.set_random_seed(0)
keras.utils.disable_interactive_logging()
schedule = tfmot.sparsity.keras.ConstantSparsity(0.5, begin_step=0, frequency=1)
model = keras.Sequential([keras.layers.Dense(16, input_shape=(8,)), keras.layers.Dense(1)])
pruned = tfmot.sparsity.keras.prune_low_magnitude(model, pruning_schedule=schedule)
pruned.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
pruned.fit(x, x[:, :1], epochs=2, callbacks=[tfmot.sparsity.keras.UpdatePruningStep()])
kernel = tfmot.sparsity.keras.strip_pruning(pruned).layers[0].kernel.numpy()
assert abs((kernel == 0).mean() - 0.5) < 0.1, (kernel == 0).mean()
