"""Large lists as constants, sessions left open. TensorFlow's graph keeps all of them: 3.8 GB."""

import sys

import tensorflow as tf

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5


def added():
    with tf.Session() as sess:
        a = tf.constant([1.0] * 10000000)
        b = tf.constant([2.0] * 10000000)
        return sess.run(tf.add(a, b))[0]


for _ in range(rounds):
    value = added()
print(value)
