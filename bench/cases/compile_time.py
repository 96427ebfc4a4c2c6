"""Tracing, compiling and planning of the models' training steps, against JAX's compiler."""

from case import Case, Row
from compiled import subject, subject_name

NAMES = ("mlp", "cnn", "gpt", "gpt12")


def row(name, label="", bar=None, peer="jax"):
    return Row(
        label or f"{name}, compiling",
        f"{subject_name('tidemark', name)}.compile_ns",
        f"{subject_name(peer, name)}.compile_ns",
        at_most_ratio=bar,
        unit="ns",
        peer_label=peer,
    )


CASE = Case(
    about="what the first training step takes beyond a later one, against JAX's and TensorFlow's",
    subjects=[subject(label, name) for name in NAMES for label in ("tidemark", "jax", "tf")],
    rows=[
        either
        for name in NAMES
        for either in (row(name, bar=0.25), row(name, "… of tf", peer="tf"))
    ],
    rounds=2,
)
