import tensorflow as tf


def train(rounds):
    history = ()
    for i in range(rounds):
        x = tf.random.normal([80, 80])
        history = history + (float(tf.reduce_sum(tf.square(x))),)
    return len(history)


train(100)
