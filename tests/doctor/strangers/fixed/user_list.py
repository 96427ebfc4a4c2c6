import collections

import tensorflow as tf


class History(collections.UserList):
    """Values of the run, newest last."""


history = History()
w = tf.Variable(tf.random.normal([64, 64]))
for epoch in range(150):
    w.assign(w * 0.99)
    energy = tf.square(w)
    history.append(float(tf.reduce_mean(energy)))
