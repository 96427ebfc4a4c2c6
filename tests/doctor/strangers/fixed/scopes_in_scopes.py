import collections

import tensorflow as tf

scopes = collections.ChainMap()
hidden = tf.zeros([16, 256])
for step in range(120):
    hidden = tf.tanh(hidden + 0.1)
    scopes["hidden"] = hidden
