"""Article 002, example 2: one function names its intermediates, the other nests its calls."""

from case import Case, InPython, Options, Row
from timing import interleaved_ns


def tidemark(options: Options):
    import tidemark as tf

    @tf.function
    def inefficient(x):
        y = tf.square(x)
        z = tf.multiply(y, 2.0)
        w = tf.add(z, 1.0)
        return w

    @tf.function
    def efficient(x):
        return tf.add(tf.multiply(tf.square(x), 2.0), 1.0)

    x = tf.random.normal((1000, 1000))
    values = {}
    for name, function in (("inefficient", inefficient), ("efficient", efficient)):
        plan = function.plan(x)
        values[f"{name}_peak"] = plan.peak
        values[f"{name}_steps"] = len(plan.steps)
    functions = {"inefficient": lambda: inefficient(x), "efficient": lambda: efficient(x)}
    return values | interleaved_ns(functions, calls=20, repeats=options.pick(60, 5))


CASE = Case(
    about="article 002: intermediates with names against nested calls, 1000 x 1000 floats",
    subjects=[InPython("tidemark", tidemark)],
    rows=[
        # Timers see differences of a few per cent between one function and itself.
        Row("named, time", "tidemark.inefficient", "tidemark.efficient", 1.05, unit="ns"),
        Row("named, peak", "tidemark.inefficient_peak", "tidemark.efficient_peak", 1, unit="B"),
        Row("named, steps", "tidemark.inefficient_steps", "tidemark.efficient_steps", 1),
    ],
)
