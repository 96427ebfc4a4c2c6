import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

x = tf.placeholder(tf.float32, [None, 32])
y = tf.reduce_mean(tf.nn.relu(x))
open_ones = []


def evaluate(batch):
    session = tf.Session()
    with session:
        return session.run(y, {x: batch})


total = 0.0
for step in range(120):
    total += evaluate(np.random.rand(8, 32).astype(np.float32))
print(total > 0)
