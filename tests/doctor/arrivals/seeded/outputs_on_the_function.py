# rule: tensors-gathered
# chain: outputs
# root: module __main__
# bytes: 16384
import functools

import tensorflow as tf


def monitored(function):
    @functools.wraps(function)
    def inner(*arguments):
        result = function(*arguments)
        inner.outputs.append(result)  # HERE
        return result

    inner.outputs = []
    return inner


weights = tf.random.normal([64, 64]) * 0.1


@monitored
def forward(x):
    return tf.nn.elu(tf.matmul(x, weights))


largest = 0.0
for step in range(220):
    forward(tf.random.normal([64, 64]))
    largest = max(largest, float(tf.reduce_max(forward.outputs[-1])))
print(largest > 0)
