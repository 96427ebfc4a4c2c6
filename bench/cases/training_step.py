"""An eager training step of an MLP, a CNN and a small GPT with Adam, against torch's."""

from case import Case, InPython, Options, Row
from timing import best_ns, resident_bytes, resident_peak_bytes, start_resident_peak

NAMES = ("mlp", "cnn", "gpt")


def tidemark(name):
    def run(options: Options):
        import tidemark as tf

        return measure(lambda: __import__("models").training_step(tf, name), options)

    return run


def torch(name):
    def run(options: Options):
        import torch

        torch.set_num_threads(2)
        return measure(lambda: __import__("torch_models").training_step(torch, name), options)

    return run


def measure(make, options: Options):
    """Time of a step, and the highest resident memory over what the imports left."""
    import numpy  # noqa: F401  (whoever needs it: no part of what the model takes)

    before = resident_bytes()
    start_resident_peak()
    step = make()
    nanoseconds = best_ns(step, calls=5, repeats=options.pick(8, 1))
    return {"step_ns": nanoseconds, "memory_mib": (resident_peak_bytes() - before) / 2**20}


def rows(name):
    def row(what, figure, bar, unit):
        return Row(
            f"{name}, {what}",
            f"tidemark {name}.{figure}",
            f"torch {name}.{figure}",
            at_most_ratio=bar,
            unit=unit,
            peer_label="torch",
        )

    return [row("training step", "step_ns", 0.8, "ns"), row("memory", "memory_mib", 0.5, "MiB")]


CASE = Case(
    about="an eager training step of an MLP, a CNN and a small GPT with Adam, against torch",
    subjects=[
        subject
        for name in NAMES
        for subject in (
            InPython(f"tidemark {name}", tidemark(name), environment="tidemark"),
            InPython(f"torch {name}", torch(name), environment="torch"),
        )
    ],
    rows=[row for name in NAMES for row in rows(name)],
)
