"""`a + b` of two floats each: what one eager call costs."""

from case import Case, InCpp, InPython, Options, Row
from timing import best_ns


def tidemark(options: Options):
    import tidemark as tf

    return measure(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), options)


def torch(options: Options):
    import torch

    torch.set_num_threads(2)
    return measure(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), options)


def tensorflow(options: Options):
    import tensorflow as tf

    return measure(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), options)


def measure(a, b, options: Options):
    return {"add_ns": best_ns(lambda: a + b, calls=20000, repeats=options.pick(30, 5))}


CASE = Case(
    about="a + b, two floats each, from Python and from C++",
    subjects=[
        InPython("tidemark", tidemark),
        InPython("torch", torch),
        InPython("tf", tensorflow, rounds=1),
        InCpp("C++", "add_small"),
    ],
    rows=[
        Row("a + b from Python", "tidemark.add_ns", "torch.add_ns", at_most_ratio=0.35, unit="ns"),
        Row("  of tf", "tidemark.add_ns", "tf.add_ns", unit="ns"),
        Row("a + b from C++", "C++.add_ns", at_most=100, unit="ns"),
    ],
)
