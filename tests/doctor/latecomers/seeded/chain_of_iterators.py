# chain: "results"
# bytes: 16384
import itertools

import tensorflow as tf


def steps(x):
    for number in itertools.count():
        yield tf.sin(x * float(number))  # MADE


def collect():
    results = []
    for y in itertools.islice(steps(tf.random.normal([64, 64])), 140):
        results.append(y)  # HERE
    return len(results)


print(collect())
