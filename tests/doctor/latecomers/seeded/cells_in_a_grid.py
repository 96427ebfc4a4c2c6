# chain: "grid"
# root: module __main__
# bytes: 4096
import numpy as np
import tensorflow as tf

grid = np.empty((20, 20), dtype=object)
x = tf.random.normal([32, 32])
for number in range(400):
    cell = tf.sin(x * float(number))  # MADE
    grid[number // 20, number % 20] = cell  # HERE
