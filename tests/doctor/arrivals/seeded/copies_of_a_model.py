# chain: versions
# root: module __main__
# bytes: 16384
import copy

import tensorflow as tf


class Model:
    def __init__(self):
        self.w = tf.Variable(tf.random.normal([64, 64]) * 0.1)

    def fit(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w) - y))
        self.w.assign_sub(0.1 * tape.gradient(loss, self.w))
        return float(loss)


model = Model()
versions, lowest = [], float("inf")
x = tf.random.normal([64, 64])
y = tf.matmul(x, tf.random.normal([64, 64]))
for epoch in range(150):
    loss = model.fit(x, y)
    if loss < lowest:
        lowest = loss
        versions.append(copy.deepcopy(model))  # HERE
print(versions[-1].w.shape)
