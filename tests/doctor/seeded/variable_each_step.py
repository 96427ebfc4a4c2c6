# rule: variables-each-step
# holder: variable
# bytes: 65536
import tensorflow as tf

made = []
for i in range(120):
    x = tf.random.normal([64, 128])
    v = tf.Variable(tf.ones([128, 128]), name="kernel")  # HERE
    y = tf.matmul(x, v)
    loss = tf.reduce_sum(y)
    made.append(v)  # CHANGE
