# rule: tensors-gathered
# chain: outputs
# root: module __main__
# bytes: 16384
from typing import NamedTuple

import tensorflow as tf


class State(NamedTuple):
    step: int
    weights: object
    outputs: tuple


def forward(state, x):
    return tf.tanh(tf.matmul(x, state.weights))  # MADE


def advance(state, x):
    output = forward(state, x)
    return state._replace(step=state.step + 1, outputs=(*state.outputs, output))  # HERE


state = State(0, tf.random.normal([32, 64]) * 0.1, ())
for _ in range(120):
    state = advance(state, tf.random.normal([64, 32]))
print(state.step)
