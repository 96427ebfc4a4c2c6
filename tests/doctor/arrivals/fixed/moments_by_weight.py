import tensorflow as tf


class Momentum:
    """For weights that are tensors: a step makes new ones."""

    def __init__(self, rate, decay):
        self.rate, self.decay = rate, decay
        self.moments = {}

    def apply(self, name, weights, gradient):
        moment = self.moments.get(name, 0.0) * self.decay + gradient
        self.moments[name] = moment
        return weights - self.rate * moment


optimizer = Momentum(0.05, 0.9)
x = tf.random.normal([32, 64])
y = tf.random.normal([32, 64])
weights = tf.random.normal([64, 64]) * 0.1
for step in range(160):
    error = tf.matmul(x, weights) - y
    gradient = tf.matmul(x, error, transpose_a=True) / 32.0
    weights = optimizer.apply("dense/kernel", weights, gradient)
print(weights.shape)
