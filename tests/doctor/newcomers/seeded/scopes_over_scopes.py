# chain: "names"
# root: module __main__
# bytes: 16384
import collections

import tensorflow as tf

names = collections.ChainMap()
x = tf.random.normal([64, 64])
for depth in range(120):
    local = tf.tanh(x + 0.01 * depth)  # MADE
    names = names.new_child({"local": local})  # HERE
