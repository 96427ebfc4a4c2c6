# rule: retrace-value
import tensorflow as tf

w = tf.Variable(tf.ones([16, 16]))


@tf.function
def update(gradient, rate):
    w.assign_sub(rate * gradient)
    return tf.reduce_sum(w)


for step in range(60):
    rate = 0.1 / (1 + step)
    gradient = tf.random.normal([16, 16])
    total = update(gradient, rate)  # HERE
print(float(total) != 0)
