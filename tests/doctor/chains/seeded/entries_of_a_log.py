# rule: tensors-gathered
# chain: attribute Entry.values
# chain: attribute Log.entries (list, 100 items)
# root: module __main__
# bytes: 16384
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
        self.entries.append(Entry(step, values))  # HERE


class Trainer:
    def __init__(self):
        self.log = Log()

    def run(self):
        for i in range(100):
            y = tf.sigmoid(tf.random.normal([64, 64]))  # MADE
            self.log.write(i, y)


trainer = Trainer()
trainer.run()
