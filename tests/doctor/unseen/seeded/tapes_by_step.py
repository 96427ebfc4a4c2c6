# rule: persistent-tape
# chain: dict "by_step" (90 items)
# root: module __main__
import tensorflow as tf

w = tf.Variable(tf.ones([96, 96]))
by_step = {}
for i in range(90):
    x = tf.random.normal([96, 96])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.tanh(tf.matmul(x, w))
        loss = tf.reduce_sum(y)
    w.assign_sub(0.001 * tape.gradient(loss, w))
    by_step[i] = tape  # HERE
