"""What the always-on Ledger has of a training step: its accounts and the source lines.

A step takes milliseconds and differs by more from one to the next, so the share is counted, not
timed: how often the Ledger is at work in a step, times what it takes each time.
"""

import json
import subprocess
import tempfile

from case import Case, InPython, Options, Row
from timing import best_ns, interleaved_ns

MODELS = ("mlp", "cnn", "gpt")


def _pair_ns(options):
    """An allocation and its release in the Ledger, alone."""
    import runner

    command = [str(runner.cpp_program(None)), "ledger", *(["--quick"] if options.quick else [])]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["pair_ns"]


def _line_ns(tf, options):
    """Noting the source line of a call."""
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    best = {False: float("inf"), True: float("inf")}
    before = tf.memory.set_source_lines(True)
    for _ in range(options.pick(40, 5)):
        for on in best:
            tf.memory.set_source_lines(on)
            timed = interleaved_ns({"add": lambda: a + b}, calls=20000, repeats=1)["add"]
            best[on] = min(best[on], timed)
    tf.memory.set_source_lines(before)
    return max(0.0, best[True] - best[False])


def _work(tf, step):
    """(allocations, calls from Python that note a line) of one step."""
    from tidemark import _tidemark

    before = tf.memory.stats().allocations
    for _ in range(4):
        step()
    allocations = (tf.memory.stats().allocations - before) / 4
    with tempfile.NamedTemporaryFile(prefix="tidemark-bench-") as file:
        with tf.memory.record(file.name):
            for _ in range(4):
                step()
        counts = _tidemark.analyse_recording(file.name)["counts"]
    return allocations, counts["op"] / 4


def tidemark(options: Options):
    import models

    import tidemark as tf

    pair, line = _pair_ns(options), _line_ns(tf, options)
    out = {"pair_ns": pair, "line_ns": line}
    for name in MODELS:
        step = models.training_step(tf, name)
        step()
        allocations, ops = _work(tf, step)
        took = best_ns(step, calls=3, repeats=options.pick(6, 1))
        out[f"{name}_percent"] = 100 * (allocations * pair + ops * line) / took
    return out


CASE = Case(
    about="the always-on Ledger's share of a training step",
    subjects=[InPython("tidemark", tidemark)],
    rows=[
        Row("Ledger, a buffer", "tidemark.pair_ns", unit="ns"),
        Row("a source line", "tidemark.line_ns", unit="ns"),
        *(
            Row(f"{name} step, Ledger's share", f"tidemark.{name}_percent", at_most=2.0,
                unit="%")
            for name in MODELS
        ),
    ],
)  # fmt: skip
