import tensorflow as tf

x = tf.Variable(tf.ones([48, 96]))
for i in range(150):
    with tf.GradientTape(persistent=True) as tape:
        y = tf.exp(x)
        loss = tf.reduce_sum(y * y)
