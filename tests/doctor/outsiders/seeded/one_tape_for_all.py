"""The tape was opened around the loop, so it records every step of the training."""

import tensorflow as tf

w = tf.Variable(tf.random.normal([64, 64]) * 0.1)


def forward(x):
    return tf.tanh(tf.matmul(x, w))


total = 0.0
with tf.GradientTape() as tape:  # HERE
    for step in range(100):
        hidden = forward(tf.random.normal([128, 64]))
        loss = tf.reduce_mean(tf.square(hidden))
        total += float(loss)
gradient = tape.gradient(loss, w)
print(total, gradient.shape)
