import tensorflow as tf

products = []
a = tf.random.normal([128, 128])
for number in range(110):
    a = tf.tanh(tf.matmul(a, a))
    products[:] = [a]
