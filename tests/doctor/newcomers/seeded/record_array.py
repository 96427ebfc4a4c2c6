# chain: "table"
# root: module __main__
# bytes: 16384
import numpy as np
import tensorflow as tf

table = np.zeros(160, dtype=[("loss", "f4"), ("state", object)])
state = tf.random.normal([64, 64])
for step in range(160):
    state = tf.tanh(state)  # MADE
    table["loss"][step] = float(tf.reduce_mean(state))
    table["state"][step] = state  # HERE
