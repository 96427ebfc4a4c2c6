import collections

import tensorflow as tf


def loss_of(scope, weights):
    outputs = tf.matmul(scope["inputs"], weights * scope["mask"])
    return tf.reduce_mean(tf.square(outputs)) * scope["scale"]


def train(steps):
    scope = collections.ChainMap({"scale": 0.5, "inputs": tf.random.normal([16, 64])})
    weights = tf.Variable(tf.random.normal([64, 64]))
    for _ in range(steps):
        kept = tf.random.uniform([64, 64]) > 0.1
        inside = scope.new_child({"mask": tf.cast(kept, tf.float32)})
        with tf.GradientTape() as tape:
            loss = loss_of(inside, weights)
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
    return float(loss)


print(train(180) > 0)
