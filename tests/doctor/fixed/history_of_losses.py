import tensorflow as tf

v = tf.Variable(tf.ones([128, 128]))
total = 0.0
for i in range(150):
    with tf.GradientTape() as tape:
        x = tf.random.normal([128, 128])
        y = tf.matmul(x, v)
        z = tf.sin(y)
        loss = tf.reduce_sum(z)
    v.assign_sub(0.001 * tape.gradient(loss, v))
    total += float(loss)
