# chain: Agent.replay
# chain: agent
# bytes: 8192
import collections

import tensorflow as tf


class Agent:
    def __init__(self):
        self.replay = collections.defaultdict(collections.deque)

    def observe(self, player, state):
        self.replay[player].append(state)  # HERE


agent = Agent()
state = tf.random.normal([32, 64])
for turn in range(200):
    state = tf.sin(state + 1.0)  # MADE
    agent.observe(turn % 4, state)
