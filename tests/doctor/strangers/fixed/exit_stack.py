import contextlib

import tensorflow as tf

stack = contextlib.ExitStack()
image = tf.random.uniform([1, 32, 32, 8])
for step in range(140):
    pooled = tf.nn.softmax(image + float(step))
    with contextlib.ExitStack() as inner:
        inner.callback(len, pooled)
