import tensorflow as tf

journal = []


class Recorded:
    def __setattr__(self, name, value):
        journal[:] = [(type(self).__name__, name, value)]
        super().__setattr__(name, value)


class State(Recorded):
    def __init__(self):
        self.x = tf.zeros([64, 64])

    def advance(self):
        self.x = tf.math.cos(self.x + 0.3)


state = State()
for step in range(150):
    state.advance()
print(float(tf.reduce_mean(state.x)) > 0)
