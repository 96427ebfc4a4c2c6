import tensorflow as tf


def shifted(function, shift):
    def inner(x):
        return function(x) + shift

    return inner


class Network:
    def __init__(self):
        self.w = tf.random.normal([64, 64]) * 0.1
        self.forward = self.plain = lambda x: tf.tanh(tf.matmul(x, self.w))

    def perturb(self, scale):
        noise = tf.random.normal([64, 64]) * scale
        self.forward = shifted(self.plain, noise)


network = Network()
x = tf.random.normal([64, 64])
steady = 0
for step in range(120):
    network.perturb(0.001)
    steady += bool(tf.reduce_max(tf.abs(network.forward(x))) < 5.0)
print(steady)
