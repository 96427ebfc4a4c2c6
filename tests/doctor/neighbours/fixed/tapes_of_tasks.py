import tensorflow as tf

w = tf.Variable(tf.random.normal([64, 64]) * 0.1)
tapes = {}


def adapt(task, x):
    with tf.GradientTape(persistent=True) as tape:
        inner = tf.reduce_mean(tf.square(tf.matmul(x, w)))
        outer = tf.reduce_mean(tf.abs(tf.matmul(x, w)))
    tapes["newest"] = tape
    return tape.gradient(inner, w), tape.gradient(outer, w)


for task in range(120):
    fast, slow = adapt(task, tf.random.normal([128, 64]))
    w.assign_sub(0.01 * (fast + slow))
print(len(tapes) > 0)
