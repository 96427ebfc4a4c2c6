import collections

import tensorflow as tf

windows = collections.deque(maxlen=8)
x = tf.random.normal([5000])
for number in range(150):
    part = tf.cos(x * (0.1 * number))
    windows.extend([part])
