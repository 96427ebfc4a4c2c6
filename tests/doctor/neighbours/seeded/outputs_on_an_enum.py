# rule: tensors-gathered
# chain: outputs
# bytes: 16384
import enum

import tensorflow as tf


class Phase(enum.Enum):
    TRAIN = "train"
    TEST = "test"

    def __init__(self, label):
        self.outputs = []

    def log(self, y):
        self.outputs.append(y)  # HERE


w = tf.random.normal([64, 64]) * 0.1
for step in range(200):
    phase = Phase.TEST if step % 5 == 0 else Phase.TRAIN
    phase.log(tf.tanh(tf.matmul(tf.random.normal([64, 64]), w)))
print(len(Phase.TRAIN.outputs) > 0)
