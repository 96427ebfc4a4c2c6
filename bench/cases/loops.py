"""Loops of a traced function: a counter, a list that grows, a scan and its gradient."""

from case import Case, InPython, Options, Row
from timing import best_ns


def tidemark(options: Options):
    import tidemark as tf

    return {**measure(tf, options), **memory_of_appending(tf)}


def tensorflow(options: Options):
    import tensorflow as tf

    return measure(tf, options)


def measure(tf, options: Options):
    @tf.function
    def count(x):
        i = tf.constant(0)
        while i < 100:
            x = x + 1.0
            i += 1
        return x

    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.scan(lambda a, v: a * 0.5 + v, x)
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, x)

    x, fill, many = tf.constant(1.0), filling(tf), tf.constant(10000)
    row, series = tf.constant([1.0, 2.0]), tf.ones([1000, 8])
    repeats = options.pick(10, 2)
    return {
        "count_ns": best_ns(lambda: count(x), calls=20, repeats=repeats),
        "append_ns": best_ns(lambda: fill(row, many), calls=1, repeats=repeats),
        "scan_gradient_ns": best_ns(lambda: gradient(series), calls=1, repeats=repeats),
    }


def filling(tf):
    """What a list of a `for` becomes, written out for both."""

    @tf.function
    def fill(x, n):
        array = tf.TensorArray(tf.float32, size=n, element_shape=[2])
        for i in tf.range(n):
            array = array.write(i, x + tf.cast(i, tf.float32))
        return array.stack()

    return fill


def memory_of_appending(tf):
    """Bytes above the result at the peak, in rounds; bytes left after many calls."""
    width, rounds = 2500, 1000

    @tf.function
    def accumulate(x, count):
        results = []
        for i in tf.range(count):
            results.append(x + tf.cast(i, tf.float32))
        return tf.stack(results)

    x, count = tf.ones([width]), tf.constant(rounds)
    accumulate(x, count)
    before = tf.memory.stats().live
    tf.memory.reset_peak()
    y = accumulate(x, count)
    stats = tf.memory.stats()
    above = stats.peak - stats.live
    del y
    for _ in range(20):
        accumulate(x, count)
    return {"rounds_above": above / (4 * width), "left": tf.memory.stats().live - before}


CASE = Case(
    about="loops of 100 additions, 10,000 appended rows, a scan of 1,000 steps and its gradient",
    subjects=[InPython("tidemark", tidemark), InPython("tf", tensorflow)],
    rows=[
        Row("100 rounds of one addition", "tidemark.count_ns", "tf.count_ns",
            at_most_ratio=0.05, unit="ns"),
        Row("10,000 rows appended", "tidemark.append_ns", "tf.append_ns",
            at_most_ratio=0.1, unit="ns"),
        Row("scan of 1,000 steps, gradient", "tidemark.scan_gradient_ns", "tf.scan_gradient_ns",
            at_most_ratio=1.0, unit="ns"),
        Row("peak above the result, rounds", "tidemark.rounds_above", at_most=2.0),
        Row("bytes left after 20 calls", "tidemark.left", at_most=0.0, unit="B"),
    ],
    worst_of=frozenset({"tidemark.rounds_above", "tidemark.left"}),
)  # fmt: skip
