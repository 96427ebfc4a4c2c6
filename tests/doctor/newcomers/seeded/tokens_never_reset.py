# chain: "tokens"
# root: module __main__
# bytes: 16384
import contextvars

import tensorflow as tf

current = contextvars.ContextVar("current")
tokens = []
x = tf.random.normal([64, 64])
for step in range(140):
    y = tf.cos(x + float(step))  # MADE
    tokens.append(current.set(y))  # HERE
