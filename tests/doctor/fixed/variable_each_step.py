import tensorflow as tf

v = tf.Variable(tf.ones([128, 128]), name="kernel")
for i in range(120):
    x = tf.random.normal([64, 128])
    v.assign(tf.ones([128, 128]))
    y = tf.matmul(x, v)
    loss = tf.reduce_sum(y)
