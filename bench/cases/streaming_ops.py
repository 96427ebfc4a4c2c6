"""Ops that only stream memory, over 16 M floats: against a plain copy or read, and torch."""

from case import Case, InCpp, InPython, Options, Row
from timing import interleaved_ns, normal_floats

SIDE = 4000
# Bytes an op moves, in units of what a copy moves (one array read, one written).
WRITING_OPS = {"add": 1.5, "multiply": 1.5, "relu": 1.0}
READING_OPS = ("sum", "max")


def tidemark(options: Options):
    import tidemark as tf

    # Times one, so that the numbers lie in buffers of ours and not in NumPy's.
    a, b = (tf.constant(normal_floats(seed, SIDE)) * 1.0 for seed in (1, 2))
    calls = {
        "add": lambda: tf.add(a, b),
        "multiply": lambda: tf.multiply(a, b),
        "relu": lambda: tf.nn.relu(a),
        "sum": lambda: tf.reduce_sum(a),
        "max": lambda: tf.reduce_max(a),
    }
    return interleaved_ns(calls, calls=2, repeats=options.pick(15, 3))


def torch(options: Options):
    import torch

    torch.set_num_threads(2)
    a, b, out = (torch.tensor(normal_floats(seed, SIDE)) for seed in (1, 2, 3))
    # With out= torch is spared the fresh pages of a new result; the faster form is compared with.
    calls = {
        "add": lambda: a + b,
        "add_out": lambda: torch.add(a, b, out=out),
        "multiply": lambda: a * b,
        "multiply_out": lambda: torch.mul(a, b, out=out),
        "relu": lambda: torch.relu(a),
        "relu_out": lambda: torch.clamp_min(a, 0.0, out=out),
        "sum": lambda: a.sum(),
        "max": lambda: a.max(),
    }
    with torch.inference_mode():
        return interleaved_ns(calls, calls=2, repeats=options.pick(15, 3))


def rows():
    for op, moved in WRITING_OPS.items():
        yield Row(
            f"{op} 16 M, bytes moved",
            f"C++.{op}_ns",
            "C++.copy_ns",
            at_most_ratio=1.15,
            unit="ns",
            peer_scale=moved,
            peer_label="copy",
        )
        yield Row(
            f"{op} 16 M",
            f"tidemark.{op}",
            (f"torch.{op}", f"torch.{op}_out"),
            at_most_ratio=1.0,
            unit="ns",
        )
    for op in READING_OPS:
        yield Row(
            f"{op} 16 M, bytes moved",
            f"C++.{op}_ns",
            "C++.read_ns",
            at_most_ratio=1.15,
            unit="ns",
            peer_label="read",
        )
        yield Row(f"{op} 16 M", f"tidemark.{op}", f"torch.{op}", at_most_ratio=1.0, unit="ns")


CASE = Case(
    about="add, multiply, relu, sum, max over 16 M floats, against a copy or read, and torch",
    subjects=[
        InPython("tidemark", tidemark),
        InPython("torch", torch),
        InCpp("C++", "streaming_ops"),
    ],
    rows=list(rows()),
)
