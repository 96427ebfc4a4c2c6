"""The same with sessions closed. That frees no constant in TensorFlow: the graph has them."""

import sys

import tensorflow as tf

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5


def added():
    with tf.Session() as sess:
        a = tf.constant([1.0] * 10000000)
        b = tf.constant([2.0] * 10000000)
        value = sess.run(tf.add(a, b))[0]
        sess.close()
    return value


for _ in range(rounds):
    value = added()
print(value)
