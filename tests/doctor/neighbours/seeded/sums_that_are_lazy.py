# rule: tensors-gathered
# chain: total
# root: module __main__
# bytes: 16384
import tensorflow as tf


class Lazy:
    def __init__(self, compute):
        self.compute = compute

    def __add__(self, other):
        return Lazy(lambda: self.compute() + other.compute())  # HERE

    def value(self):
        return self.compute()


def loss_of(batch):
    return Lazy(lambda: tf.reduce_mean(tf.square(batch)))


total = Lazy(lambda: tf.constant(0.0))
for step in range(150):
    total = total + loss_of(tf.random.normal([64, 64]))
print(float(total.value()) > 0)
