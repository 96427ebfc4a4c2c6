"""exp, tanh, erf, log over 16 M floats, against torch."""

from case import Case, InPython, Options, Row
from timing import interleaved_ns, normal_floats

SIDE = 4000
OPS = ("exp", "tanh", "erf", "log")


def tidemark(options: Options):
    import tidemark as tf

    # Times one, so that the numbers lie in a buffer of ours and not in NumPy's.
    x = tf.constant(normal_floats(1, SIDE)) * 1.0
    positive = tf.abs(x) + 0.001
    calls = {
        "exp": lambda: tf.exp(x),
        "tanh": lambda: tf.tanh(x),
        "erf": lambda: tf.math.erf(x),
        "log": lambda: tf.math.log(positive),
    }
    return interleaved_ns(calls, calls=1, repeats=options.pick(12, 2))


def torch(options: Options):
    import torch

    torch.set_num_threads(2)
    x, out = (torch.tensor(normal_floats(seed, SIDE)) for seed in (1, 2))
    positive = x.abs() + 0.001
    # With out= torch is spared the fresh pages of a new result; the faster form is compared with.
    calls = {}
    for op in OPS:
        function, argument = getattr(torch, op), positive if op == "log" else x
        calls[op] = lambda function=function, argument=argument: function(argument)
        calls[f"{op}_out"] = lambda function=function, argument=argument: function(
            argument, out=out
        )
    with torch.inference_mode():
        return interleaved_ns(calls, calls=1, repeats=options.pick(12, 2))


CASE = Case(
    about="exp, tanh, erf, log over 16 M floats, against torch",
    subjects=[InPython("tidemark", tidemark), InPython("torch", torch)],
    rows=[
        Row(
            f"{op} 16 M",
            f"tidemark.{op}",
            (f"torch.{op}", f"torch.{op}_out"),
            at_most_ratio=1.0,
            unit="ns",
        )
        for op in OPS
    ],
)
