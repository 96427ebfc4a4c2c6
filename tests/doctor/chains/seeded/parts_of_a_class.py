# rule: variables-each-step
# chain: attribute Builder.parts (list, 100 items)
# root: module __main__
# bytes: 16384
import tensorflow as tf


class Builder:
    parts = []

    def add(self, size):
        part = tf.Variable(tf.ones([size, size]))  # MADE
        self.parts.append(part)  # HERE
        return part


for i in range(100):
    builder = Builder()
    part = builder.add(64)
    y = tf.reduce_sum(part * 2.0)
