# rule: retrace-shape
# holder: traces of scale()
import tensorflow as tf


@tf.function
def scale(x):
    rows = x.shape[0]
    return tf.reshape(x, [rows * 2, -1]) / rows


for i in range(1, 40):
    x = tf.ones([i, 8])
    y = scale(x)  # HERE
