"""The same eagerly. TensorFlow runs it; each list is converted element by element."""

import tensorflow as tf

for _ in range(10000):
    numbers = tf.constant(list(range(10000)))
    squares = tf.square(numbers).numpy()
print(squares[-1])
