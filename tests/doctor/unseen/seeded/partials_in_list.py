# rule: tensors-gathered
# chain: list "jobs" (120 items)
# root: module __main__
# bytes: 32768
import functools

import tensorflow as tf


def report(values, scale):
    return float(tf.reduce_mean(values)) * scale


jobs = []
for i in range(120):
    x = tf.random.normal([64, 128])
    y = tf.nn.relu(x)
    jobs.append(functools.partial(report, y))  # HERE
print(len(jobs))
