import numpy as np
import tensorflow as tf

grid = np.empty((20, 20), dtype=object)
x = tf.random.normal([32, 32])
for number in range(400):
    cell = tf.sin(x * float(number))
    grid[0, 0] = cell
