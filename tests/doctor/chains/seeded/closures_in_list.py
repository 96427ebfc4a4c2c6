# rule: tensors-gathered
# chain: closure of measure ("grid")
# chain: list "measures" (90 items)
# root: module __main__
# bytes: 65536
import tensorflow as tf


def prepare(i):
    grid = tf.fill([128, 128], float(i))  # MADE

    def measure():
        return float(tf.reduce_sum(grid))

    return measure


measures = []
for i in range(90):
    measures.append(prepare(i))  # HERE
print(measures[3]())
