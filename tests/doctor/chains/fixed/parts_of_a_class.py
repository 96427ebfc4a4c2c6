import tensorflow as tf


class Builder:
    def __init__(self):
        self.parts = []

    def add(self, size):
        part = tf.Variable(tf.ones([size, size]))
        self.parts.append(part)
        return part


for i in range(100):
    builder = Builder()
    part = builder.add(64)
    y = tf.reduce_sum(part * 2.0)
