"""A reader hands on the even blocks and keeps the odd ones for the end of the epoch."""

import tensorflow as tf


def blocks(count):
    leftovers = []
    for number in range(count):
        yield tf.random.uniform([64, 64])
        rest = tf.square(tf.random.uniform([64, 64]))
        leftovers.append(float(tf.reduce_mean(rest)))
    yield from leftovers


def normalized(count):
    for block in blocks(count):
        yield block - 0.5


total = 0.0
for number, block in enumerate(normalized(400)):
    total += float(tf.reduce_mean(block))
    if number == 140:
        break
print(total)
