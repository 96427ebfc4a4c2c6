# rule: tensors-gathered
# chain: after
# root: module __main__
# bytes: 20000
"""A queue of linked cells whose head is never moved on."""

import tensorflow as tf


class Cell:
    def __init__(self, value):
        self.value = value
        self.after = None


class Queue:
    def __init__(self):
        self.head = self.tail = Cell(None)

    def put(self, value):
        cell = Cell(value)
        self.tail.after = cell  # HERE
        self.tail = cell

    def newest(self):
        return self.tail.value


frames = Queue()
for step in range(130):
    frames.put(tf.random.normal([50, 100]) + 1.0)  # MADE
    value = float(tf.reduce_mean(frames.newest()))
