import functools

import tensorflow as tf


class traced:
    """Decorates a function; shows how often and with what result it was called."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function
        self.calls = 0
        self.results = []

    def __call__(self, *args):
        self.calls += 1
        result = self.function(*args)
        self.results = [result]
        return result


@traced
def activate(x, scale):
    return tf.nn.elu(x) * scale


for step in range(120):
    y = activate(tf.random.normal([96, 96]), 0.5)
print(activate.calls)
