# chain: "seen"
# root: module __main__
# bytes: 16384
import tensorflow as tf


def remember(x, seen=[]):
    seen.append(x)  # HERE
    return len(seen)


kernel = tf.random.normal([64, 64])
for step in range(150):
    y = tf.tanh(kernel * 0.01 * step)  # MADE
    remember(y)
