"""Python state read while tracing. TensorFlow bakes the first value in and says nothing of it."""

import tensorflow as tf

state = {"calls": 0}


@tf.function
def add_calls(x):
    state["calls"] += 1
    return x + state["calls"]


for _ in range(10):
    print(add_calls(tf.constant(1.0)).numpy(), "traced", state["calls"], "time(s)")
