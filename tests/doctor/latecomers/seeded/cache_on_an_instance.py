# chain: lru_cache
# bytes: 16384
import functools

import tensorflow as tf


class Basis:
    def __init__(self, x):
        self.x = x
        self.wave = functools.lru_cache(maxsize=None)(self.make)  # HERE

    def make(self, number):
        return tf.sin(self.x * number)  # MADE


basis = Basis(tf.random.normal([64, 64]))
for number in range(140):
    y = basis.wave(float(number)) * 2.0
