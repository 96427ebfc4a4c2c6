import tensorflow as tf


class State:
    def __init__(self, hidden, previous):
        self.hidden = hidden
        self.steps = previous.steps + 1 if previous else 1


state = None
hidden = tf.zeros([128, 128])
for i in range(100):
    hidden = tf.tanh(hidden + 0.1)
    state = State(hidden, state)
