import itertools
import queue

import tensorflow as tf

jobs = queue.PriorityQueue()
number = itertools.count()


def submit(priority, x):
    if priority < 5:
        jobs.put((priority, next(number), x))


def work():
    _, _, x = jobs.get()
    return float(tf.reduce_mean(tf.nn.softmax(x)))


total = 0.0
for step in range(160):
    submit(0, tf.random.normal([64, 64]))
    submit(9, tf.random.normal([64, 64]))
    total += work()
print(total > 0)
