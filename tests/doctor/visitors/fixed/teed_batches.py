import itertools

import tensorflow as tf


def batches(count):
    for _ in range(count):
        yield tf.random.normal([128, 64])


def main():
    source = batches(160)
    first = next(source)
    width = first.shape[1]
    training = itertools.chain([first], source)
    weights = tf.Variable(tf.random.normal([width, 8]) * 0.1)
    for x in training:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - 1.0))
        weights.assign_sub(0.05 * tape.gradient(loss, weights))
    return x.shape[1], weights.shape


print(main())
