# rule: tensors-gathered
# chain: set "records" (110 items)
# root: module __main__
# bytes: 36864
import tensorflow as tf


class Record:
    __slots__ = ("step", "values")

    def __init__(self, step, values):
        self.step = step
        self.values = values


records = set()
for i in range(110):
    x = tf.random.normal([96, 96])
    records.add(Record(i, tf.abs(x)))  # HERE
