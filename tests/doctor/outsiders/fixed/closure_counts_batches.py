import tensorflow as tf


def smoother(length):
    window = []

    def smooth(value):
        window.append(value)
        del window[:-length]
        recent = window
        total = recent[0]
        for other in recent[1:]:
            total = total + other
        return total * (1.0 / len(recent))

    return smooth


smooth = smoother(4)
for step in range(140):
    signal = tf.sin(tf.random.normal([80, 64]))
    level = float(tf.reduce_mean(smooth(signal)))
