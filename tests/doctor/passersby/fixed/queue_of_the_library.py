"""More is put into the queue than is taken out: one of two parts is read."""

import tensorflow as tf

ready = tf.queue.FIFOQueue(10000, [tf.float32], shapes=[[64, 64]])


def produce():
    frame = tf.random.uniform([64, 64])
    ready.enqueue(frame)
    return float(tf.reduce_mean(frame * 0.5))


total = 0.0
for step in range(120):
    produce()
    total += float(tf.reduce_mean(ready.dequeue()))
print(total)
