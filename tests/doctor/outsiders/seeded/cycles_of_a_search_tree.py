# rule: reference-cycle
# bytes: 16384
"""Tree search; the collector was switched off for speed, as servers do."""

import gc

import tensorflow as tf


class Node:
    def __init__(self, state, parent=None):
        self.state = state
        self.children = []
        self.parent = parent  # HERE

    def expand(self, count):
        for _ in range(count):
            child = Node(tf.tanh(self.state), self)  # MADE
            self.children.append(child)

    def best(self):
        return max(self.children, key=lambda child: float(tf.reduce_sum(child.state)))


gc.disable()
for move in range(100):
    root = Node(tf.random.normal([16, 64]))
    root.expand(3)
    value = float(tf.reduce_mean(root.best().state))
    del root
