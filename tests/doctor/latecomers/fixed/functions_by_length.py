import tensorflow as tf

by_length = {}
by_length[0] = tf.function(lambda x: tf.tanh(x) * 2.0, reduce_retracing=True)
for length in range(1, 61):
    y = by_length[0](tf.ones([length]))
