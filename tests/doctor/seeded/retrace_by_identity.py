# rule: retrace-identity
# holder: traces of apply()
import tensorflow as tf


@tf.function
def apply(x, activation):
    return activation(x)


x = tf.ones([100])
for i in range(40):
    y = apply(x, lambda t: tf.nn.relu(t))  # HERE
