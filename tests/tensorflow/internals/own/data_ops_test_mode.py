"""``tensorflow.python.data.ops.test_mode``: a switch of TensorFlow's own checks."""


def toggle_test_mode(on):
    pass
