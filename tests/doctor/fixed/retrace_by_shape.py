import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([None, 8])])
def scale(x):
    rows = tf.shape(x)[0]
    return tf.reshape(x, [rows * 2, -1]) / tf.cast(rows, tf.float32)


for i in range(1, 40):
    x = tf.ones([i, 8])
    y = scale(x)
