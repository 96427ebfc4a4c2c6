# rule: persistent-tape
import tensorflow as tf

inputs = tf.random.normal([64, 64])
targets = tf.tanh(tf.matmul(inputs, tf.random.normal([64, 8])))
inner = tf.Variable(tf.random.normal([64, 64]) * 0.1)
outer = tf.Variable(tf.random.normal([64, 8]) * 0.1)

first = last = None
with tf.GradientTape(persistent=True) as tape:  # HERE
    for step in range(120):
        hidden = tf.tanh(tf.matmul(inputs, inner))
        loss = tf.reduce_mean(tf.square(tf.matmul(hidden, outer) - targets))
        inner.assign_sub(0.1 * tape.gradient(loss, inner))
        outer.assign_sub(0.1 * tape.gradient(loss, outer))
        last = float(loss)
        first = last if first is None else first
print(last < first)
