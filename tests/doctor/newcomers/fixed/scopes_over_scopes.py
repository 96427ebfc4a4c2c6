import collections

import tensorflow as tf

names = collections.ChainMap()
x = tf.random.normal([64, 64])
for depth in range(120):
    local = tf.tanh(x + 0.01 * depth)
    names = collections.ChainMap({"local": local})
