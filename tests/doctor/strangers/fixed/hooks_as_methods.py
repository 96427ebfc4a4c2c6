import tensorflow as tf


class Probe:
    def __init__(self, activation):
        self.activation = activation

    def report(self):
        return float(tf.reduce_max(self.activation))


hooks = []
layer = tf.random.normal([128, 64])
for step in range(140):
    probe = Probe(tf.nn.elu(layer - step * 0.01))
    hooks.append(probe.report())
