# rule: tensors-gathered
# chain: transitions
# root: module __main__
# bytes: 16384
import random
from typing import NamedTuple

import tensorflow as tf


class Transition(NamedTuple):
    state: tf.Tensor
    action: int
    reward: float


class Replay:
    def __init__(self, capacity):
        self.capacity = capacity
        self.transitions = []

    def push(self, *what):
        self.transitions.append(Transition(*what))  # HERE

    def sample(self, count):
        return random.choices(self.transitions, k=count)


def move(state, action):
    return tf.math.sin(state + 0.1 * action)


replay = Replay(capacity=8)
policy = tf.random.normal([64, 2])
state = tf.random.normal([64, 64])
for step in range(180):
    action = int(tf.argmax(tf.reduce_mean(tf.matmul(state, policy), axis=0)))
    following = move(state, action)
    replay.push(state, action, float(tf.reduce_mean(following)))
    state = following
    for transition in replay.sample(4):
        policy = policy + 0.001 * transition.reward
print(policy.shape)
