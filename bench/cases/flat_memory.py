"""Ten million eager ops of mixed sizes: the process must not grow."""

from case import Case, InCpp, InPython, Options, Row
from timing import resident_bytes

PYTHON_OPS = 1_000_000
SIZES = [int(2 ** (k / 4)) for k in range(56)] + [1 << 16, 1 << 18]
LARGE_EVERY = 1000


def tidemark(options: Options):
    import tidemark as tf

    count = options.pick(PYTHON_OPS, PYTHON_OPS // 10)
    held = [tf.ones((size,)) for size in SIZES]
    small = len(SIZES) - 2
    ops = (
        lambda t: t + t,
        lambda t: t * 0.5,
        lambda t: tf.nn.relu(t),
        lambda t: tf.reduce_sum(t) + t,
        lambda t: tf.reshape(t, (1, -1))[0] - 1.0,
    )
    samples = []
    every = count // 100
    for i in range(count):
        # A multiplicative walk over the sizes, so that neighbours in time differ in size.
        slot = small + i // LARGE_EVERY % 2 if i % LARGE_EVERY == 0 else i * 7919 % small
        held[slot] = ops[i % len(ops)](held[slot])
        if (i + 1) % every == 0:
            samples.append(resident_bytes())
    return {"spread_mib": (max(samples) - min(samples)) / 2**20}


CASE = Case(
    about="resident memory over 10,000,000 eager ops of mixed sizes (a tenth from Python)",
    subjects=[InCpp("C++", "flat_memory"), InPython("tidemark", tidemark)],
    rows=[
        Row("10 M ops, memory spread", "C++.spread_mib", at_most=1, unit="MiB"),
        Row("  an op", "C++.op_ns", unit="ns"),
        Row("1 M ops from Python", "tidemark.spread_mib", at_most=1, unit="MiB"),
    ],
    rounds=1,
    worst_of=frozenset({"C++.spread_mib", "tidemark.spread_mib"}),
)
