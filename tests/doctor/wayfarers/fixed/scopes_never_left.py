import contextlib

import tensorflow as tf

active = []


@contextlib.contextmanager
def scope(value):
    active.append(value)
    yield value * 2.0
    active.pop()


total = 0.0
for step in range(150):
    with scope(tf.random.normal([64, 64])) as doubled:
        total += float(tf.reduce_mean(doubled))
print(total != 0)
