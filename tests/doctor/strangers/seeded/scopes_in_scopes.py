# chain: "scopes"
# root: module __main__
# bytes: 16384
import collections

import tensorflow as tf

scopes = collections.ChainMap()
hidden = tf.zeros([16, 256])
for step in range(120):
    hidden = tf.tanh(hidden + 0.1)  # MADE
    scopes = scopes.new_child({"hidden": hidden})  # HERE
