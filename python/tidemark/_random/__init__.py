"""What ``tf.random`` is made of."""
