# rule: tensors-gathered
# chain: generator batches()
# root: module __main__
# bytes: 65536
import tensorflow as tf


def batches(seed):
    table = tf.fill([128, 128], float(seed))
    for row in range(128):
        yield float(table[row, 0])


streams = []
for i in range(80):
    stream = batches(i)
    first = next(stream)
    streams.append(stream)  # HERE
