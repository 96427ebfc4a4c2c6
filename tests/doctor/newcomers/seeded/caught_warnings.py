# chain: "caught"
# bytes: 16384
import warnings

import tensorflow as tf


class Saturated(UserWarning):
    def __init__(self, text, values):
        super().__init__(text)
        self.values = values


x = tf.random.normal([64, 64])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for step in range(140):
        values = tf.tanh(x * float(step))  # MADE
        warnings.warn(Saturated("nothing moves any more", values), stacklevel=2)  # HERE
