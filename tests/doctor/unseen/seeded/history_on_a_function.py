# rule: tensors-gathered
# chain: attribute step.history (list, 130 items)
# root: module __main__
# bytes: 16384
import tensorflow as tf


def step(x):
    y = tf.exp(-x)
    step.history.append(y)  # HERE
    return tf.reduce_sum(y)


step.history = []
for i in range(130):
    loss = step(tf.random.uniform([64, 64]))
