# rule: tensors-gathered
# chain: window
# root: module __main__
# bytes: 20480
import tensorflow as tf


def smoother(length):
    window = []

    def smooth(value):
        window.append(value)  # HERE
        recent = window[-length:]
        total = recent[0]
        for other in recent[1:]:
            total = total + other
        return total * (1.0 / len(recent))

    return smooth


smooth = smoother(4)
for step in range(140):
    signal = tf.sin(tf.random.normal([80, 64]))  # MADE
    level = float(tf.reduce_mean(smooth(signal)))
