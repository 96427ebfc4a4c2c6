# rule: traceback-holds
# holder: traceback of the ValueError
# bytes: 65536
import tensorflow as tf


def work(i):
    big = tf.random.normal([128, 128])  # HERE
    total = tf.reduce_sum(big)
    if i >= 0:
        raise ValueError(f"round {i}")
    return total


errors = []
for i in range(100):
    try:
        work(i)
    except ValueError as error:
        errors.append(error)  # CHANGE
