# chain: "model"
# root: module __main__
# bytes: 16384
import functools

import tensorflow as tf


def apply(inner, shift, x):
    return x + shift if inner is None else x + shift * 0.5


model = None
x = tf.random.normal([64, 64])
for number in range(120):
    shift = tf.sin(x * float(number))  # MADE
    model = functools.partial(apply, model, shift)  # HERE
    y = model(x)
