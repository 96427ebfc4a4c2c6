import functools

import tensorflow as tf


def apply(inner, shift, x):
    return x + shift if inner is None else x + shift * 0.5


model = None
x = tf.random.normal([64, 64])
for number in range(120):
    shift = tf.sin(x * float(number))
    model = functools.partial(apply, None, shift)
    y = model(x)
