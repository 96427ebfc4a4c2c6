# rule: tensors-gathered
# chain: lru_cache of Tables.row()
# root: module __main__
# bytes: 20480
import functools

import tensorflow as tf


class Tables:
    @functools.cache  # HERE
    def row(self, i):
        return tf.cos(tf.range(5120, dtype=tf.float32) * float(i))  # MADE


tables = Tables()
for i in range(120):
    y = tf.reduce_sum(tables.row(i))
