import sys

import tensorflow as tf

failures = []


def check(batch):
    doubled = batch * 2.0
    if float(tf.reduce_max(doubled)) > 0.0:
        raise ValueError("too large")
    return doubled


for step in range(150):
    try:
        check(tf.random.normal([64, 64]) ** 2)
    except ValueError:
        failures.append(str(sys.exc_info()[1]))
print(len(failures))
