# rule: tensors-gathered
# chain: best
# root: decode()
# bytes: 32768
import tensorflow as tf

w = tf.random.normal([128, 128]) * 0.1


class Hypothesis:
    def __init__(self, state, score, parent):
        self.state, self.score, self.parent = state, score, parent

    def extended(self):
        state = tf.tanh(tf.matmul(self.state, w))
        return Hypothesis(state, self.score + float(tf.reduce_mean(state)), self)  # HERE


def decode(length):
    best = Hypothesis(tf.random.normal([64, 128]), 0.0, None)
    for _ in range(length):
        best = best.extended()
    return best.score


print(decode(150) == 0.0)
