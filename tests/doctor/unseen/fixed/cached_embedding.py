import functools

import tensorflow as tf


@functools.lru_cache(maxsize=4)
def embed(key):
    base = tf.range(4096, dtype=tf.float32)
    return tf.sin(base * float(key))


total = 0.0
for i in range(150):
    total += float(tf.reduce_sum(embed(i)))
