"""safetensors: tensors in a file and back, of several dtypes."""

import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from safetensors.tensorflow import load, load_file, save, save_file

weights = {
    "kernel": tf.reshape(tf.range(6, dtype=tf.float32), [2, 3]),
    "half": tf.constant([1.5, -2.0], tf.float16),
    "count": tf.constant([[3]], tf.int64),
    "flags": tf.constant([True, False]),
}
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "model.safetensors"
    save_file(dict(weights), path, {"made": "here"})
    found = load_file(path)
    assert set(found) == set(weights)
    for name, value in weights.items():
        assert found[name].dtype == value.dtype
        assert np.array_equal(np.asarray(found[name]), value.numpy())
again = load(save(dict(weights)))
assert np.array_equal(np.asarray(again["kernel"]), weights["kernel"].numpy())
