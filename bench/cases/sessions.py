"""TensorFlow 1's sessions: a small run, and what thousands of sessions, runs and threads leave."""

import threading

from case import Case, InPython, Options, Row
from timing import best_ns, resident_bytes


def small_run(tf, options: Options):
    """A fed graph of a handful of nodes, over and over."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [4], name="x")
        y = tf.reduce_sum(tf.nn.relu(x * 2.0 + 1.0))
        value = [1.0, 2.0, 3.0, 4.0]
        import numpy as np

        fed = {x: np.array(value, np.float32)}
        call = sess.make_callable(y, [x])
        return {
            "run_ns": best_ns(lambda: sess.run(y, fed), options.pick(2000, 200)),
            "callable_ns": best_ns(lambda: call(fed[x]), options.pick(2000, 200)),
        }


def many_calls(tf, options: Options):
    """The articles' loop of a hundred rounds, called ten thousand times there."""

    @tf.function
    def repeated(x, n):
        total = tf.constant(0.0)
        for _ in tf.range(n):
            total = total + x
        return total

    x = tf.constant(1.0)
    return {"loop_ns": best_ns(lambda: repeated(x, 100), options.pick(100, 20), 3)}


def grown(action, rounds):
    """MiB of resident memory that the last three quarters of the rounds add."""
    before = 0
    for i in range(rounds):
        if i == rounds // 4:
            before = resident_bytes()
        action()
    return max(0.0, (resident_bytes() - before) / 2**20)


def flat(tf, options: Options):
    rounds = options.pick(10_000, 1_000)

    def session():
        with tf.Session() as sess:
            sess.run(tf.constant([1.0, 2.0]) + 1.0)

    sessions = grown(session, rounds)
    with tf.Graph().as_default(), tf.Session() as sess:
        a = tf.constant([1.0, 2.0, 3.0])
        slices = grown(lambda: sess.run(a[0]), rounds)
        x = tf.placeholder(tf.float32, [8])
        y = tf.reduce_sum(x * 2.0)

        def work():
            for _ in range(250):
                sess.run(y, {x: [1.0] * 8})

        def threads():
            every = [threading.Thread(target=work) for _ in range(64)]
            for thread in every:
                thread.start()
            for thread in every:
                thread.join()

        shared = grown(threads, 4)
    return {"sessions_mib": sessions, "slices_mib": slices, "threads_mib": shared}


def tidemark(options: Options):
    import tidemark as tf

    found = many_calls(tf, options)
    import tidemark.compat.v1 as v1

    return {**found, **small_run(v1, options), **flat(v1, options)}


def tensorflow(options: Options):
    import tensorflow as tf

    found = many_calls(tf, options)
    return {**found, **small_run(tf.compat.v1, options)}


CASE = Case(
    about="sessions of TensorFlow 1: a small fed run, and what many of everything leave behind",
    subjects=[InPython("tidemark", tidemark), InPython("tf", tensorflow)],
    rows=[
        Row("sess.run, small and fed", "tidemark.run_ns", "tf.run_ns", at_most_ratio=0.1,
            unit="ns"),
        Row("  make_callable", "tidemark.callable_ns", "tf.callable_ns", unit="ns"),
        Row("call of a loop of 100", "tidemark.loop_ns", "tf.loop_ns", at_most_ratio=0.1,
            unit="ns"),
        Row("10,000 sessions, growth", "tidemark.sessions_mib", at_most=1, unit="MiB"),
        Row("sess.run(a[0]) x 10,000", "tidemark.slices_mib", at_most=1, unit="MiB"),
        Row("64 threads x 1,000 runs", "tidemark.threads_mib", at_most=1, unit="MiB"),
    ],
    rounds=3,
    worst_of=frozenset({"tidemark.sessions_mib", "tidemark.slices_mib", "tidemark.threads_mib"}),
)  # fmt: skip
