import tensorflow as tf


@tf.function
def apply(x, activation):
    return activation(x)


x = tf.ones([100])
relu = tf.nn.relu
for i in range(40):
    y = apply(x, relu)
