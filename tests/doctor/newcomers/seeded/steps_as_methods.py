# chain: "workers"
# root: module __main__
import tensorflow as tf


class Stepper:
    def __init__(self, rate):
        self.rate = rate

    @tf.function
    def step(self, x):
        return tf.tanh(x * self.rate)


workers = []
x = tf.random.normal([64, 64])
for number in range(60):
    worker = Stepper(0.1 * number)
    y = worker.step(x)
    workers.append(worker)  # HERE
