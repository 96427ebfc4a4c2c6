# chain: "late"
# root: module __main__
# bytes: 16384
import itertools

import tensorflow as tf


def batches(count):
    for number in range(count):
        yield tf.fill([64, 64], float(number))  # MADE


early, late = itertools.tee(batches(150))  # HERE
total = 0.0
for batch in early:
    total += float(tf.reduce_mean(batch))
