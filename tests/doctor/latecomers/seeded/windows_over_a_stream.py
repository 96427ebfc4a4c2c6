# chain: "windows"
# root: module __main__
# bytes: 20000
import collections

import tensorflow as tf

windows = collections.deque()
x = tf.random.normal([5000])
for number in range(150):
    part = tf.cos(x * (0.1 * number))  # MADE
    windows.extend([part])  # HERE
