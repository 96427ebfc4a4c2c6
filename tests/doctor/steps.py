"""Steps of a small training, each timed by itself: the median of them in microseconds.

`measure.py steps` runs it alone and under the doctor, whose looks are few: the median is that of a
step between them.
"""

import statistics
import sys
import time

import tensorflow as tf

w1 = tf.Variable(tf.random.normal([256, 512]) * 0.05)
w2 = tf.Variable(tf.random.normal([512, 64]) * 0.05)
x, target = tf.random.normal([256, 256]), tf.random.normal([256, 64])


def step():
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(tf.matmul(x, w1))
        loss = tf.reduce_mean(tf.square(tf.matmul(hidden, w2) - target))
    for variable, gradient in zip((w1, w2), tape.gradient(loss, (w1, w2)), strict=True):
        variable.assign_sub(0.01 * gradient)
    return loss


if sys.argv[1:] == ["function"]:
    step = tf.function(step)
losses, took = [], []
for _ in range(1500):
    began = time.perf_counter()
    losses.append(step())
    took.append(time.perf_counter() - began)
print(f"{1e6 * statistics.median(took[100:]):.1f}", file=sys.stderr)
