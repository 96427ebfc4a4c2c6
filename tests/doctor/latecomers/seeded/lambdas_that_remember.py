# chain: "later"
# root: module __main__
# bytes: 16384
import tensorflow as tf

later = []


def remember(value):
    later.append(lambda: float(tf.reduce_mean(value)))  # HERE


x = tf.random.normal([64, 64])
for number in range(140):
    remember(tf.sqrt(tf.abs(x) + float(number)))  # MADE
