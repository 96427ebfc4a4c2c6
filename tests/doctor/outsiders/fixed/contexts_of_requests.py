import contextvars

import tensorflow as tf

features = contextvars.ContextVar("features", default=None)
contexts = []


def embed(x):
    features.set(tf.tanh(x))


def respond():
    return float(tf.reduce_mean(features.get()))


for request in range(120):
    context = contextvars.copy_context()
    context.run(embed, tf.random.normal([64, 64]))
    value = context.run(respond)
    contexts = [context]
