import contextvars

import tensorflow as tf

current = contextvars.ContextVar("current")
tokens = []
x = tf.random.normal([64, 64])
for step in range(140):
    y = tf.cos(x + float(step))
    current.reset(current.set(y))
