"""A worker that goes gives its buffer back to a pool from which nobody takes."""

import tensorflow as tf


class Pool:
    def __init__(self):
        self.free = []

    def give(self, buffer):
        self.free = [buffer]


class Worker:
    def __init__(self, pool):
        self.pool = pool
        self.buffer = tf.exp(tf.random.uniform([64, 64]))

    def work(self):
        return float(tf.reduce_sum(self.buffer))

    def __del__(self):
        self.pool.give(self.buffer)


pool = Pool()
total = 0.0
for _ in range(120):
    worker = Worker(pool)
    total += worker.work()
    del worker
print(total)
