"""A module called in a loop, noise drawn in each call. TensorFlow runs it; half a GB idles."""

import tensorflow as tf


class Noisy(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(tf.random.normal([5, 10]))

    def __call__(self, x):
        return tf.matmul(x + tf.random.normal(x.shape), self.kernel)


layer = Noisy()
x = tf.random.normal((1, 5))
for _ in range(20000):
    y = layer(x)
print(y.shape)
