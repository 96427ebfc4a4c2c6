# chain: atexit
# bytes: 16384
import atexit

import tensorflow as tf


def save(value):
    del value


x = tf.random.normal([64, 64])
for number in range(130):
    result = tf.sqrt(tf.abs(x) + float(number))  # MADE
    atexit.register(save, result)  # HERE
