"""A session a round over one default graph. TensorFlow keeps every node: slower and larger each."""

import tensorflow as tf

tf.compat.v1.disable_eager_execution()
for _ in range(10000):
    with tf.compat.v1.Session() as sess:
        numbers = tf.constant(list(range(10000)))
        squares = sess.run(tf.square(numbers))
print(squares[-1])
