"""One tape that may be asked more than once, entered in each step and so never emptied."""

import tensorflow as tf

w = tf.Variable(tf.random.normal([64, 64]) * 0.1)
tape = tf.GradientTape(persistent=True)  # HERE
total = 0.0
for step in range(60):
    x = tf.random.normal([128, 64])
    with tape:
        loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w))))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    total += float(loss)
print(total)
