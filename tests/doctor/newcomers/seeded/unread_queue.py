# chain: SimpleQueue
# bytes: 16384
import queue

import tensorflow as tf

outbox = queue.SimpleQueue()
x = tf.random.normal([64, 64])
for step in range(150):
    message = tf.sqrt(tf.abs(x) + float(step))  # MADE
    outbox.put((step, message))  # HERE
