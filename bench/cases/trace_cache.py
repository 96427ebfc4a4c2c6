"""Calls that retrace elsewhere: traces kept, and by how much the process grows.

TensorFlow's side makes a few hundred such calls only, which tells its growth a thousand calls.
"""

import gc
import logging

from case import Case, InPython, Options, Row
from timing import resident_bytes


def tidemark(options: Options):
    import tidemark as tf

    logging.getLogger("tidemark").setLevel(logging.ERROR)
    many = options.pick(100_000, 5_000)
    counts = {
        "floats": many,
        "lengths": 2_000,
        "methods": many,
        "functions": many,
        "errors": options.pick(10_000, 1_000),
    }
    return measure(tf, counts, kept=lambda f: len(f.traces()), warm_up=1_000)


def tensorflow(options: Options):
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")
    few = options.pick(300, 30)
    counts = dict.fromkeys(("floats", "lengths", "methods", "functions", "errors"), few)
    return measure(tf, counts, kept=lambda f: f.experimental_get_tracing_count(), warm_up=few // 3)


def measure(tf, counts, kept, warm_up):
    """For each kind of call: traces kept, MiB grown after a warm-up, and that a thousand calls."""
    out = {}
    for name, make in KINDS.items():
        call, function = make(tf)
        for i in range(warm_up):
            call(i)
        gc.collect()
        before, count = resident_bytes(), counts[name]
        for i in range(warm_up, warm_up + count):
            call(i)
        gc.collect()
        grown = (resident_bytes() - before) / 2**20
        out[f"{name}_mib"] = grown
        out[f"{name}_mib_per_1000"] = max(grown, 0.001) * 1000 / count
        if function is not None:
            out[f"{name}_kept"] = kept(function)
    return out


def floats(tf):
    @tf.function
    def scaled(x, rate):
        return x * rate

    x = tf.constant([1.0, 2.0])
    return lambda i: scaled(x, i * 0.1), scaled


def lengths(tf):
    @tf.function
    def total(x):
        return tf.reduce_sum(x * 2.0)

    return lambda i: total(tf.ones([1 + i % 2000])), total


def methods(tf):
    class Scale:
        def by(self, x):
            return x * 3.0

    @tf.function
    def apply(f, x):
        return f(x)

    scale, x = Scale(), tf.constant(2.0)
    return lambda i: apply(scale.by, x), apply


def functions(tf):
    x = tf.constant([1.0, 2.0])
    return lambda i: tf.function(lambda x: x * 2.0 + 1.0)(x), None


def errors(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)] * 2)
    def add(a, b):
        return a + b

    two, three = tf.ones([2]), tf.ones([3])

    def call(i):
        try:
            add(two, three)
        except tf.errors.InvalidArgumentError:
            return
        raise AssertionError("no error was raised")

    return call, add


KINDS = {
    "floats": floats,
    "lengths": lengths,
    "methods": methods,
    "functions": functions,
    "errors": errors,
}


def rows():
    texts = {
        "floats": "100,000 floats",
        "lengths": "2,000 lengths",
        "methods": "100,000 methods",
        "functions": "100,000 new functions",
        "errors": "10,000 errors",
    }
    for name, text in texts.items():
        yield Row(f"{text}, growth", f"tidemark.{name}_mib", at_most=2.0, unit="MiB")
        if name in ("floats", "lengths", "methods"):
            yield Row("  traces kept", f"tidemark.{name}_kept", at_most=2)
        yield Row("  a thousand, of tf", f"tidemark.{name}_mib_per_1000",
                  f"tf.{name}_mib_per_1000", unit="MiB")  # fmt: skip


CASE = Case(
    about="calls that retrace elsewhere: traces kept, growth of the process",
    subjects=[
        InPython("tidemark", tidemark, rounds=1),
        InPython("tf", tensorflow, rounds=1),
    ],
    rows=list(rows()),
    rounds=1,
)
