# chain: "ranking"
# root: module __main__
# bytes: 16384
import bisect

import tensorflow as tf

ranking = []
x = tf.random.normal([64, 64])
for trial in range(150):
    x = tf.tanh(x * 1.01)  # MADE
    score = float(tf.reduce_mean(tf.abs(x)))
    bisect.insort(ranking, (score, trial, x))  # HERE
