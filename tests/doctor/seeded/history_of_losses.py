# rule: history-kept
# holder: GradientTape
import tensorflow as tf

v = tf.Variable(tf.ones([128, 128]))
total = tf.constant(0.0)
with tf.GradientTape() as tape:  # HERE
    for i in range(150):
        x = tf.random.normal([128, 128])
        y = tf.matmul(x, v)
        z = tf.sin(y)
        total += tf.reduce_sum(z)
grads = tape.gradient(total, v)
