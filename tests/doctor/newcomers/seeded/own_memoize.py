# chain: "seen"
# bytes: 20000
import functools

import tensorflow as tf


def memoize(f):
    seen = {}

    @functools.wraps(f)
    def call(*args):
        if args not in seen:
            seen[args] = f(*args)  # HERE
        return seen[args]

    return call


@memoize
def kernel(width):
    return tf.exp(-line * line / width)  # MADE


line = tf.random.normal([5000])
for step in range(130):
    total = tf.reduce_sum(kernel(1.0 + step))
