import tensorflow as tf

rate = tf.Variable(0.5)


@tf.function
def step(x):
    return x * rate


x = tf.ones([100])
for i in range(40):
    y = step(x)
    rate.assign(rate * 0.9)
