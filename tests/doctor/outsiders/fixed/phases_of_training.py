import enum

import tensorflow as tf


class Phase(enum.Enum):
    TRAIN = "train"
    EVAL = "eval"

    def __init__(self, label):
        self.label = label
        self.outputs = []

    def record(self, output):
        self.outputs.append(float(tf.reduce_max(output)))


def step(phase, x):
    y = tf.nn.relu(x) * 0.5
    phase.record(y)
    return y


for number in range(140):
    step(Phase.TRAIN, tf.random.normal([72, 64]))
print(len(Phase.TRAIN.outputs), len(Phase.EVAL.outputs))
