"""Q-learning on a toy world, with a memory of what was seen."""

import random

import tensorflow as tf


class Memory:
    def __init__(self, capacity):
        self.capacity = capacity
        self.transitions = []

    def add(self, seen, action, reward):
        self.transitions.append((seen, action, reward))
        if len(self.transitions) > self.capacity:
            del self.transitions[0]

    def sample(self, count):
        return random.sample(self.transitions, min(count, len(self.transitions)))


class World:
    def observe(self):
        return tf.tanh(tf.random.normal([64, 64]))


memory = Memory(capacity=12)
world = World()
value = 0.0
for step in range(130):
    seen = world.observe()
    action = random.randrange(4)
    memory.add(seen, action, float(tf.reduce_mean(seen)))
    for past, _, reward in memory.sample(2):
        value += 0.01 * (reward - float(tf.reduce_max(past)))
print(value)
