# rule: tensors-gathered
# chain: positions()
# root: module __main__
# bytes: 8192
"""Sinusoidal positions of a decoder that starts at another offset in each call."""

import functools

import tensorflow as tf

WIDTH = 64


@functools.cache  # HERE
def positions(start, length):
    steps = tf.reshape(tf.range(start, start + length, dtype=tf.float32), [length, 1])
    rates = tf.reshape(tf.range(WIDTH, dtype=tf.float32), [1, WIDTH]) * 0.01
    return tf.sin(steps * rates)  # MADE


def decode(tokens, start):
    return tokens + positions(start, 32)


for step in range(150):
    out = decode(tf.random.normal([32, WIDTH]), 32 * step)
