import tensorflow as tf

tf.memory.set_limit("64MiB")
x = tf.ones([1024, 1024])
for i in range(20):
    y = tf.reduce_sum(tf.square(x))
    y += tf.reduce_sum(tf.exp(x))
    y += tf.reduce_sum(tf.tanh(x))
