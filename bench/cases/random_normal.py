"""100 M normal random floats, against TensorFlow; and whether they are normal."""

import math
import time

from case import Case, InPython, Options, Row

COUNT = 100_000_000
SUBSAMPLE = 1_000_000


def tidemark(options: Options):
    import tidemark as tf

    tf.random.set_seed(7)
    values = best_of(lambda: tf.random.normal((COUNT,)), options)
    return {**values, **deviations(tf.random.normal((COUNT,)).numpy())}


def tensorflow(options: Options):
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(2)
    tf.random.set_seed(7)
    return best_of(lambda: tf.random.normal((COUNT,)), options)


def best_of(call, options: Options):
    best = float("inf")
    for _ in range(options.pick(4, 2)):
        start = time.perf_counter_ns()
        result = call()
        best = min(best, time.perf_counter_ns() - start)
        del result
    return {"normal_ns": best}


def deviations(sample):
    """How far the sample is from the normal distribution, each in units of what chance explains.

    The moments over the whole sample are in standard errors; the Kolmogorov-Smirnov distance over a
    subsample is in units of its critical value at one in a thousand.
    """
    import numpy

    sums = numpy.zeros(4)
    for block in numpy.array_split(sample, 200):
        x = block.astype(numpy.float64)
        square = x * x
        sums += [x.sum(), square.sum(), (square * x).sum(), (square * square).sum()]
    moments = sums / len(sample)
    expected = numpy.array([0.0, 1.0, 0.0, 3.0])
    # Variance of x^k for a normal x is E[x^2k] - E[x^k]^2: 1, 2, 15, 96.
    errors = numpy.sqrt(numpy.array([1.0, 2.0, 15.0, 96.0]) / len(sample))
    part = numpy.sort(sample[:: len(sample) // SUBSAMPLE][:SUBSAMPLE].astype(numpy.float64))
    normal = numpy.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in part.tolist()])
    steps = numpy.arange(len(part) + 1) / len(part)
    distance = max((steps[1:] - normal).max(), (normal - steps[:-1]).max())
    return {
        "moments_deviation": numpy.abs((moments - expected) / errors).max(),
        "ks_deviation": distance / (1.9495 / math.sqrt(len(part))),
    }


CASE = Case(
    about="100 M normal random floats against TensorFlow; moments and Kolmogorov-Smirnov distance",
    subjects=[InPython("tidemark", tidemark), InPython("tf", tensorflow)],
    rows=[
        Row("normal, 100 M", "tidemark.normal_ns", "tf.normal_ns", at_most_ratio=0.25, unit="ns"),
        Row("  moments, std errors off", "tidemark.moments_deviation", at_most=4),
        Row("  KS of 1 M, of critical", "tidemark.ks_deviation", at_most=1),
    ],
    rounds=2,
)
