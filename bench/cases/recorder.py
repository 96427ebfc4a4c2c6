"""What the recorder costs in a training step."""

import os
import tempfile

from case import Case, InPython, Options, Row
from timing import best_ns


def tidemark(options: Options):
    import models

    import tidemark as tf

    out = {}
    handle, path = tempfile.mkstemp(prefix="tidemark-bench-")
    os.close(handle)
    for name in ("mlp", "cnn", "gpt"):
        step = models.training_step(tf, name)
        best = {"plain": float("inf"), "recorded": float("inf")}
        for _ in range(options.pick(8, 1)):
            best["plain"] = min(best["plain"], best_ns(step, calls=3, repeats=1))
            with tf.memory.record(path):
                best["recorded"] = min(best["recorded"], best_ns(step, calls=3, repeats=1))
        out |= {f"{name}_{key}_ns": value for key, value in best.items()}
    os.unlink(path)
    return out


CASE = Case(
    about="a training step as it is, and recorded to a file",
    subjects=[InPython("tidemark", tidemark)],
    rows=[
        Row(f"{name} step, recorder on", f"tidemark.{name}_recorded_ns",
            f"tidemark.{name}_plain_ns", at_most_ratio=1.05, unit="ns", peer_label="off")
        for name in ("mlp", "cnn", "gpt")
    ],
)  # fmt: skip
