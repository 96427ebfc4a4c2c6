# rule: tensors-gathered
# chain: heap
# root: module __main__
# bytes: 16384
import heapq
import itertools

import tensorflow as tf


class PrioritizedReplay:
    def __init__(self, capacity):
        self.capacity = capacity
        self.heap = []
        self.tickets = itertools.count()

    def add(self, priority, frame):
        heapq.heappush(self.heap, (priority, next(self.tickets), frame))  # HERE

    def sample(self, count):
        return [frame for _, _, frame in heapq.nlargest(count, self.heap)]


replay = PrioritizedReplay(capacity=32)
policy = tf.Variable(tf.random.normal([64, 1]) * 0.1)
for step in range(200):
    frame = tf.random.normal([64, 64])
    error = float(tf.reduce_mean(tf.abs(tf.matmul(frame, policy))))
    replay.add(error, frame)
    for replayed in replay.sample(4):
        values = tf.matmul(replayed, policy)
        policy.assign_sub(0.001 * tf.matmul(replayed, values, transpose_a=True) / 64.0)
print(float(tf.norm(policy)) > 0)
