# rule: persistent-tape
# holder: GradientTape (persistent)
import tensorflow as tf

v = tf.Variable(tf.ones([128, 128]))
tapes = []
for i in range(100):
    with tf.GradientTape(persistent=True) as tape:  # HERE
        x = tf.random.normal([128, 128])
        y = tf.sin(tf.matmul(x, v))
        loss = tf.reduce_sum(y)
    v.assign_sub(0.001 * tape.gradient(loss, v))
    tapes.append(tape)  # CHANGE
