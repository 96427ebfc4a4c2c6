import sys

import tensorflow as tf

frames = []
w = tf.random.normal([64, 64]) * 0.1


def remember():
    frames.append(sys._getframe(1).f_lineno)


def forward(x):
    hidden = tf.tanh(x)
    del x
    remember()
    return tf.reduce_mean(tf.matmul(hidden, w))


total = 0.0
for step in range(150):
    total += float(forward(tf.random.normal([64, 64])))
print(len(frames))
