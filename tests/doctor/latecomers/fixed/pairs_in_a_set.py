import tensorflow as tf


class Pair:
    __slots__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right


pairs = set()
x = tf.random.normal([64, 64])
for number in range(130):
    left = tf.cos(x + float(number))
    pairs = {Pair(left, number)}
