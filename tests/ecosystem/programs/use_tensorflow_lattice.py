"""Lattice: a model that is monotonic in its feature is trained."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow_lattice as tfl
import tf_keras as keras

keras.utils.set_random_seed(0)
keras.utils.disable_interactive_logging()
x = np.linspace(0, 1, 64, dtype="float32")[:, None]
model = keras.Sequential(
    [
        tfl.layers.PWLCalibration(
            input_keypoints=np.linspace(0, 1, 5), output_min=0.0, output_max=1.0,
            monotonicity="increasing", input_shape=(1,),
        ),
        tfl.layers.Lattice(lattice_sizes=(2,), monotonicities=["increasing"]),
    ]
)  # fmt: skip
model.compile("adam", "mse")
model.fit(x, x**2, epochs=3)
assert (np.diff(model.predict(x)[:, 0]) >= -1e-5).all()
