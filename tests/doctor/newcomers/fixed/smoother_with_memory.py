import tensorflow as tf


def smoother():
    past = []

    def smooth(x):
        nonlocal past
        past = [*past, x][-5:]
        return (past[0] + past[-1]) / 2.0

    return smooth


smooth = smoother()
signal = tf.random.normal([64, 64])
for step in range(140):
    signal = tf.sin(signal + 0.2)
    out = smooth(signal)
