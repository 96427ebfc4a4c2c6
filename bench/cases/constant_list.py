"""`tf.constant(list(range(10000)))`, against numpy on the same list in the same process."""

from case import Case, InPython, Options, Row
from timing import interleaved_ns


def tidemark(options: Options):
    import numpy

    numbers = list(range(10000))
    import tidemark as tf

    best = interleaved_ns(
        {"constant_ns": lambda: tf.constant(numbers), "numpy_ns": lambda: numpy.array(numbers)},
        calls=20,
        repeats=options.pick(100, 10),
    )
    assert numpy.array_equal(tf.constant(numbers).numpy(), numpy.array(numbers))
    return best


def tensorflow(options: Options):
    import tensorflow as tf

    numbers = list(range(10000))
    return interleaved_ns({"constant_ns": lambda: tf.constant(numbers)}, calls=5, repeats=5)


CASE = Case(
    about="tf.constant of a list of 10,000 integers, against numpy.array",
    subjects=[InPython("tidemark", tidemark), InPython("tf", tensorflow, rounds=1)],
    rows=[
        Row(
            "constant(list of 10,000)",
            "tidemark.constant_ns",
            "tidemark.numpy_ns",
            at_most_ratio=0.6,
            unit="ns",
            peer_label="numpy",
        ),
        Row("  of tf", "tidemark.constant_ns", "tf.constant_ns", unit="ns"),
    ],
)
