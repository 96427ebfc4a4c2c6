import collections

import tensorflow as tf


class Agent:
    def __init__(self):
        self.replay = collections.defaultdict(lambda: collections.deque(maxlen=10))

    def observe(self, player, state):
        self.replay[player].append(state)


agent = Agent()
state = tf.random.normal([32, 64])
for turn in range(200):
    state = tf.sin(state + 1.0)
    agent.observe(turn % 4, state)
