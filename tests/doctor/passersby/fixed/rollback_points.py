import copy

import tensorflow as tf


class State:
    def __init__(self):
        self.mean = tf.zeros([64, 32])
        self.spread = tf.ones([96, 32])

    def advance(self):
        noise = tf.random.normal([1, 32])
        self.mean = self.mean + noise
        self.spread = self.spread * 0.99 + tf.abs(noise)


class Simulation:
    def __init__(self):
        self.state = State()
        self.points = []

    def step(self):
        self.state.advance()
        self.points = [copy.deepcopy(self.state)]
        return float(tf.reduce_mean(self.state.spread))

    def back(self):
        self.state = self.points[-1]


simulation = Simulation()
for step in range(120):
    simulation.step()
simulation.back()
