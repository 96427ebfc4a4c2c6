# rule: tensors-gathered
# root: module __main__
# bytes: 16384
"""A second reader of the same batches, which reads only when asked."""

import itertools

import tensorflow as tf


def batches(count):
    for _ in range(count):
        yield tf.random.uniform([64, 64])  # MADE


training, monitor = itertools.tee(batches(140))  # HERE
loss = 0.0
for batch in training:
    loss += float(tf.reduce_mean(tf.square(batch)))
first = [float(tf.reduce_max(batch)) for batch in itertools.islice(monitor, 3)]
print(loss, first)
