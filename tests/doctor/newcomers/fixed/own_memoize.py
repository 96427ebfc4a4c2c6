import functools

import tensorflow as tf


def memoize(f):
    seen = {}

    @functools.wraps(f)
    def call(*args):
        if args not in seen:
            seen[args] = f(*args)
        return seen[args]

    return call


@memoize
def kernel(width):
    return tf.exp(-line * line / width)


line = tf.random.normal([5000])
for step in range(130):
    total = tf.reduce_sum(kernel(1.0 + step % 4))
