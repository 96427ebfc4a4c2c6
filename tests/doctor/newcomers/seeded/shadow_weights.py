# rule: variables-each-step
# chain: Average.shadows
import tensorflow as tf


class Average:
    def __init__(self, weights):
        self.weights = weights
        self.shadows = []

    def update(self):
        copies = [tf.Variable(w) for w in self.weights]
        self.shadows.append(copies)  # HERE


weights = [tf.Variable(tf.ones([64, 64])), tf.Variable(tf.ones([64]))]
average = Average(weights)
for step in range(100):
    for w in weights:
        w.assign(w * 0.99)
    average.update()
