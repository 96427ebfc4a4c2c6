"""``tf.raw_ops``: TensorFlow's operations that are no single op here, by what they are about."""
