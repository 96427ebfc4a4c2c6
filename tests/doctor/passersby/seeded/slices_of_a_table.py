# rule: tensors-gathered
# chain: updates
# root: module __main__
# bytes: 16896
"""Gradients of an embedding are values and the rows they belong to."""

import tensorflow as tf

table = tf.Variable(tf.random.normal([500, 32]))
updates = []


def update(rows):
    with tf.GradientTape() as tape:
        words = tf.gather(table, rows)
        loss = tf.reduce_sum(tf.square(words))
    return tape.gradient(loss, table), loss


for step in range(100):
    rows = tf.random.uniform([128], 0, 500, dtype=tf.int32)
    slices, loss = update(rows)
    table.scatter_sub(slices)
    updates.append(slices)  # HERE
print(float(loss) >= 0)
