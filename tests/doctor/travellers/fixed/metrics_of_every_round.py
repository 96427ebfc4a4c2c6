import tensorflow as tf


class Mean:
    def __init__(self, size):
        self.total = tf.Variable(tf.zeros([size, size]))
        self.count = 0

    def update(self, value):
        self.total.assign_add(value)
        self.count += 1

    def result(self):
        return float(tf.reduce_mean(self.total)) / self.count


def evaluate(rounds):
    metrics = {}
    best = 0.0
    for number in range(rounds):
        metrics = {number: Mean(64)}
        for _ in range(2):
            metrics[number].update(tf.random.uniform([64, 64]))
        best = max(best, metrics[number].result())
    return best


print(0 < evaluate(120) < 1)
