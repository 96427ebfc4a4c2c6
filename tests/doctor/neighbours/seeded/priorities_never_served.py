# rule: tensors-gathered
# chain: jobs
# root: module __main__
# bytes: 16384
import itertools
import queue

import tensorflow as tf

jobs = queue.PriorityQueue()
number = itertools.count()


def submit(priority, x):
    jobs.put((priority, next(number), x))  # HERE


def work():
    _, _, x = jobs.get()
    return float(tf.reduce_mean(tf.nn.softmax(x)))


total = 0.0
for step in range(160):
    submit(0, tf.random.normal([64, 64]))
    submit(9, tf.random.normal([64, 64]))
    total += work()
print(total > 0)
