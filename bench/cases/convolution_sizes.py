"""One convolution over 2,000 image sizes: what the caches of primitives and memory make of it."""

from case import Case, InPython, Options, Row
from timing import resident_bytes

SIZES, FIRST = 2000, 50


def image_sizes():
    """Heights and widths of 20 to 64 in an order without pattern; the largest comes first."""
    import random

    sizes = [(height, width) for height in range(20, 65) for width in range(20, 65)]
    random.Random(1).shuffle(sizes)
    return [(64, 64), *sizes]


def tidemark(options: Options):
    import time

    import tidemark as tf

    filters = tf.random.normal([3, 3, 16, 16])
    start, lowest, highest = time.perf_counter_ns(), float("inf"), 0.0
    for i, (height, width) in enumerate(image_sizes()[: options.pick(SIZES, 60)]):
        tf.nn.conv2d(tf.ones([1, height, width, 16]), filters, 1, "SAME")
        if i >= FIRST and i % 10 == 0:
            resident = resident_bytes()
            lowest, highest = min(lowest, resident), max(highest, resident)
    taken = time.perf_counter_ns() - start
    return {"growth_mib": (highest - lowest) / 2**20, "size_ns": taken / (i + 1)}


CASE = Case(
    about="resident memory over 2,000 image sizes of one convolution, after the first 50",
    subjects=[InPython("tidemark", tidemark)],
    rows=[
        Row("2,000 sizes, memory spread", "tidemark.growth_mib", at_most=1.0, unit="MiB"),
        Row("a size", "tidemark.size_ns", unit="ns"),
    ],
    worst_of=frozenset({"tidemark.growth_mib"}),
    rounds=2,
)
