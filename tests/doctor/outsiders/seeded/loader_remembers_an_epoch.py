# rule: tensors-gathered
# chain: seen
# root: train()
# bytes: 16384
"""The second epoch was to come from memory, but a run has only one."""

import tensorflow as tf


class Loader:
    def __init__(self, count):
        self.count = count
        self.seen = []

    def read(self):
        return tf.random.uniform([32, 128])  # MADE

    def __iter__(self):
        if len(self.seen) == self.count:
            yield from self.seen
            return
        for _ in range(self.count):
            batch = self.read()
            self.seen.append(batch)  # HERE
            yield batch


def train(count):
    loader = Loader(count)
    loss = 0.0
    for batch in loader:
        loss += float(tf.reduce_mean(tf.square(batch)))
    return loss


print(train(140))
