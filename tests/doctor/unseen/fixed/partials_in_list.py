import functools

import tensorflow as tf


def report(value, scale):
    return value * scale


jobs = []
for i in range(120):
    x = tf.random.normal([64, 128])
    y = tf.nn.relu(x)
    jobs.append(functools.partial(report, float(tf.reduce_mean(y))))
print(len(jobs))
