import functools

import tensorflow as tf


class Tables:
    @functools.lru_cache(maxsize=2)
    def row(self, i):
        return tf.cos(tf.range(5120, dtype=tf.float32) * float(i))


tables = Tables()
for i in range(120):
    y = tf.reduce_sum(tables.row(i))
