import dataclasses

import tensorflow as tf


@dataclasses.dataclass
class Entry:
    step: int
    values: object


class Log:
    def __init__(self):
        self.entries = []

    def write(self, step, values):
        self.entries.append(Entry(step, float(tf.reduce_mean(values))))


class Trainer:
    def __init__(self):
        self.log = Log()

    def run(self):
        for i in range(100):
            y = tf.sigmoid(tf.random.normal([64, 64]))
            self.log.write(i, y)


trainer = Trainer()
trainer.run()
