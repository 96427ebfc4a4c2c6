import contextlib

import tensorflow as tf


@contextlib.contextmanager
def recording(name):
    baseline = tf.random.normal([64, 64]) * 0.01
    yield float(tf.reduce_mean(baseline))
    print(end="" if name else "\n")


opened = []
total = 0.0
for step in range(100):
    manager = recording(f"part-{step}")
    total += manager.__enter__()
    manager.__exit__(None, None, None)
    opened = [manager]
print(total, len(opened))
