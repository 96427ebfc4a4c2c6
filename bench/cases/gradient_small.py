"""The gradient of `sum(v * v)`, 100 x 100: what an eager tape costs."""

from case import Case, InPython, Options, Row
from timing import best_ns


def tidemark(options: Options):
    import tidemark as tf

    return measure(gradient_of_tape(tf), options)


def tensorflow(options: Options):
    import tensorflow as tf

    return measure(gradient_of_tape(tf), options)


def gradient_of_tape(tf):
    v = tf.Variable(tf.ones([100, 100]))

    def gradient():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        return tape.gradient(loss, v)

    return gradient


def torch(options: Options):
    import torch

    torch.set_num_threads(2)
    v = torch.ones(100, 100, requires_grad=True)
    return measure(lambda: torch.autograd.grad((v * v).sum(), v), options)


def measure(gradient, options: Options):
    return {"gradient_ns": best_ns(gradient, calls=500, repeats=options.pick(30, 5))}


CASE = Case(
    about="the gradient of sum(v * v), 100 x 100, with an eager tape",
    subjects=[
        InPython("tidemark", tidemark),
        InPython("torch", torch),
        InPython("tf", tensorflow, rounds=1),
    ],
    rows=[
        Row(
            "gradient of sum(v * v)",
            "tidemark.gradient_ns",
            "torch.gradient_ns",
            at_most_ratio=0.4,
            unit="ns",
        ),
        Row("  of tf", "tidemark.gradient_ns", "tf.gradient_ns", unit="ns"),
    ],
)
