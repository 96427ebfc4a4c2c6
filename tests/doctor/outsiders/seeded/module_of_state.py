# rule: tensors-gathered
# chain: history
# bytes: 16384
"""State shared between notebooks through a module made at run time."""

import sys
import types

import tensorflow as tf

sys.modules["shared_state"] = types.ModuleType("shared_state")
sys.modules["shared_state"].history = {}


def step(number):
    import shared_state

    x = tf.random.normal([64, 64])
    y = tf.sqrt(tf.abs(x))  # MADE
    shared_state.history[number] = y  # HERE
    return float(tf.reduce_mean(y))


for number in range(140):
    step(number)
