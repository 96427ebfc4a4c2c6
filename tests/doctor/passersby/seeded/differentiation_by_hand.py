# rule: tensors-gathered
# chain: parents
# root: main()
# bytes: 32768
"""A state that is carried from step to step, and never cut off from its past."""

import tensorflow as tf


class Var:
    __slots__ = ("data", "parents", "grad")

    def __init__(self, data, parents=()):
        self.data = data
        self.parents = parents
        self.grad = 0.0

    def mix(self, other):
        return Var(tf.tanh(self.data * 0.5 + other.data), (self, other))

    def detached(self):
        return Var(self.data)


def main():
    state = Var(tf.random.normal([64, 64]))
    for step in range(110):
        x = Var(tf.random.normal([64, 64]))
        state = state.mix(x)  # HERE
        loss = float(tf.reduce_mean(state.data))
    print(loss)


main()
