import tensorflow as tf


@tf.function
def repeat(x, times):
    for _ in tf.range(times):
        x = x * 1.5
    return x


x = tf.ones([100])
for i in range(40):
    y = repeat(x, tf.constant(i))
