"""Losses are added lazily: nothing is computed until somebody asks."""

import tensorflow as tf


class Value:
    def __init__(self, tensor):
        self.tensor = tensor

    def compute(self):
        return float(tf.reduce_mean(tf.square(self.tensor)))


class Sum:
    def __init__(self, left, right):
        self.left = left
        self.right = right

    def compute(self):
        return self.left.compute() + self.right.compute()


def error(x, target):
    return Value(tf.abs(x - target))


def main():
    target = tf.zeros([40, 64])
    total = Value(target)
    for step in range(120):
        x = tf.random.normal([40, 64])
        total = Sum(Value(target), error(x, target))
    print(total.compute())


main()
