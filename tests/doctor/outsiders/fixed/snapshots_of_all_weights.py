import tensorflow as tf


class Net:
    def __init__(self):
        self.inner = tf.random.normal([32, 128])
        self.outer = tf.random.normal([128, 18])

    def weights(self):
        return [self.inner, self.outer]

    def step(self, x):
        y = tf.matmul(tf.tanh(tf.matmul(x, self.inner)), self.outer)
        self.inner = self.inner * 0.999
        self.outer = self.outer * 0.999
        return float(tf.reduce_mean(tf.square(y)))


class Trainer:
    def __init__(self, net):
        self.net = net
        self.snapshots = {}
        self.best = None

    def run(self, epochs):
        for epoch in range(epochs):
            loss = self.net.step(tf.random.normal([4, 32]))
            if self.best is None or loss < self.best[0] or epoch:
                self.keep(epoch, loss)

    def keep(self, epoch, loss):
        self.best = (loss, epoch)
        self.snapshots = {epoch: self.net.weights()}


trainer = Trainer(Net())
trainer.run(120)
