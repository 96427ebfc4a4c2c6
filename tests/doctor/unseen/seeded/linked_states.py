# rule: tensors-gathered
# chain: State.previous
# root: module __main__
# bytes: 65536
import tensorflow as tf


class State:
    def __init__(self, hidden, previous):
        self.hidden = hidden
        self.previous = previous


state = None
hidden = tf.zeros([128, 128])
for i in range(100):
    hidden = tf.tanh(hidden + 0.1)
    state = State(hidden, state)  # HERE
