# chain: "by_length"
# root: module __main__
import tensorflow as tf

by_length = {}
for length in range(1, 61):
    by_length[length] = tf.function(lambda x: tf.tanh(x) * 2.0)  # HERE
    y = by_length[length](tf.ones([length]))
