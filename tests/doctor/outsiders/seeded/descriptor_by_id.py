# rule: tensors-gathered
# chain: values
# bytes: 16384
import itertools

import tensorflow as tf


class Lazy:
    """An attribute that is computed when it is first read."""

    def __init__(self, compute):
        self.compute = compute
        self.values = {}

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        key = instance.serial
        if key not in self.values:
            self.values[key] = self.compute(instance)  # HERE
        return self.values[key]


class Sample:
    serials = itertools.count()
    features = Lazy(lambda self: tf.cos(self.pixels))  # MADE

    def __init__(self):
        self.serial = next(Sample.serials)
        self.pixels = tf.random.uniform([64, 64])


for step in range(130):
    sample = Sample()
    value = float(tf.reduce_sum(sample.features)) + float(tf.reduce_mean(sample.features))
