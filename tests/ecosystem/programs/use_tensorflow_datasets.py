"""tensorflow-datasets: a dataset of one's own is written and read."""

import tempfile

import tensorflow as tf
import tensorflow_datasets as tfds


class Squares(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        features = tfds.features.FeaturesDict({"x": tf.int64, "y": tf.float32})
        return tfds.core.DatasetInfo(builder=self, features=features)

    def _split_generators(self, manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for n in range(10):
            yield n, {"x": n, "y": float(n * n)}


with tempfile.TemporaryDirectory() as folder:
    builder = Squares(data_dir=folder)
    builder.download_and_prepare()
    found = {int(e["x"]): float(e["y"]) for e in builder.as_dataset(split="train")}
    assert found == {n: float(n * n) for n in range(10)}, found
    batch = next(iter(tfds.as_numpy(builder.as_dataset(split="train").batch(4))))
    assert batch["x"].shape == (4,)
