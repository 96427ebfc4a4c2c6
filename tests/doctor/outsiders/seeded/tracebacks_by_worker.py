# chain: last
# root: module __main__
# bytes: 16384
"""The traceback of each failure is kept, and with it what its frames have."""

import tensorflow as tf

last = {}


def parse(record):
    features = tf.square(tf.random.normal([64, 64]))  # MADE
    total = float(tf.reduce_sum(features))
    return total / record["count"]


def work(name, record):
    try:
        return parse(record)
    except ZeroDivisionError as error:
        last[name] = error.__traceback__  # HERE
    return 0.0


total = 0.0
for number in range(110):
    total += work(f"worker-{number}", {"count": 0})
print(total, len(last))
