"""A first program: make tensors, compute, print them, and ask where the memory is."""

import tidemark as tf

tf.memory.set_limit("64MiB")
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
y = tf.tanh(tf.matmul(x, x) * 0.1 + 1.0)
print(y)
print(tf.memory.report())
