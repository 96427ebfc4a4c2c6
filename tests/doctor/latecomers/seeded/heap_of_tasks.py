# chain: PriorityQueue
# bytes: 16384
import queue

import tensorflow as tf

tasks = queue.PriorityQueue()
x = tf.random.normal([64, 64])
for number in range(130):
    work = tf.tanh(x * float(number))  # MADE
    tasks.put((-number, number, work))  # HERE
