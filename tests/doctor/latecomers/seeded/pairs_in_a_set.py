# chain: "pairs"
# root: module __main__
# bytes: 16384
import tensorflow as tf


class Pair:
    __slots__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right


pairs = set()
x = tf.random.normal([64, 64])
for number in range(130):
    left = tf.cos(x + float(number))  # MADE
    pairs.update([Pair(left, number)])  # HERE
