import tensorflow as tf

later = []


def remember(value):
    later[:] = [lambda: float(tf.reduce_mean(value))]


x = tf.random.normal([64, 64])
for number in range(140):
    remember(tf.sqrt(tf.abs(x) + float(number)))
