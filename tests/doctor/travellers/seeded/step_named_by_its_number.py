# rule: retrace-value
import tensorflow as tf

w = tf.random.normal([64, 64]) * 0.1


@tf.function
def step(x, tag):
    y = tf.tanh(tf.matmul(x, w))
    return tf.identity(y, name=tag)


x = tf.random.normal([64, 64])
for number in range(60):
    x = step(x, f"step_{number}")  # HERE
print(x.shape)
