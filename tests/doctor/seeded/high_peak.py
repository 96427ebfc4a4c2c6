# rule: peak-intermediates
# holder: intermediates
import tensorflow as tf

tf.memory.set_limit("64MiB")
x = tf.ones([1024, 1024])
for i in range(20):
    a = tf.square(x)
    b = tf.exp(x)
    c = tf.sin(x)
    d = tf.cos(x)
    e = [tf.tanh(x) for _ in range(8)]  # HERE
    y = tf.reduce_sum(a + b + c + d + e[0])
    del a, b, c, d, e
