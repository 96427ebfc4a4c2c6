import tensorflow as tf


def remember(name, tensor):
    globals()[name] = float(tf.reduce_mean(tensor))


for step in range(120):
    x = tf.random.normal([64, 64])
    y = tf.abs(x) + 1.0
    remember(f"output_{step:04d}", y)
