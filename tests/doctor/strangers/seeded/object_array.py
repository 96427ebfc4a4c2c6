# chain: "table"
# root: module __main__
# bytes: 32768
import numpy as np
import tensorflow as tf

table = np.empty(200, dtype=object)
x = tf.random.normal([64, 128])
for row in range(150):
    z = tf.sigmoid(x + row / 10.0)  # MADE
    table[row] = z  # HERE
