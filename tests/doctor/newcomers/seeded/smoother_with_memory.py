# chain: "past"
# chain: "smooth"
# bytes: 16384
import tensorflow as tf


def smoother():
    past = []

    def smooth(x):
        nonlocal past
        past = [*past, x]  # HERE
        return (past[0] + past[-1]) / 2.0

    return smooth


smooth = smoother()
signal = tf.random.normal([64, 64])
for step in range(140):
    signal = tf.sin(signal + 0.2)  # MADE
    out = smooth(signal)
