"""``tensorflow.python.tf2``."""


def enabled():
    return True


def enable():
    pass
