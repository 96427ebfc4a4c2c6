"""A chain that grows by a node a run. TensorFlow computes it anew each time: quadratic."""

import sys

import tensorflow as tf

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
results = []  # Keeps 168 bytes a round: an array of one float and its place in the list.
with tf.Session() as sess:
    a = tf.constant([1.0])
    for _ in range(rounds):
        a = tf.add(a, tf.constant([1.0]))
        results.append(sess.run(a))
print(results[-1], len(results))
