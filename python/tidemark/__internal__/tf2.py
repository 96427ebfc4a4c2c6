"""``tf.__internal__.tf2``: whether TensorFlow 2's behaviour is on."""


def enabled():
    """True: names outside of ``tf.compat.v1`` behave as TensorFlow 2's."""
    return True
