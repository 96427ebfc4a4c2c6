# rule: tensors-gathered
# chain: seen
# bytes: 28672
import builtins

import tensorflow as tf


def install():
    builtins.seen = []

    def spy(tensor):
        builtins.seen.append(tensor)  # HERE
        return tensor

    builtins.spy = spy


install()
for step in range(120):
    a = tf.random.normal([64, 112])
    b = spy(tf.exp(a * 0.1))  # noqa: F821  # MADE
    c = tf.reduce_sum(b)
