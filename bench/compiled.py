"""A model's training step as one function: what the cases compiled_* and compile_time measure.

Added memory is the highest resident memory over that after the imports and one tiny call, which
makes what a library makes once for all; tracing, compiling and the state are part of it.
"""

from __future__ import annotations

import time

from case import CODE_KEPT, Case, InPython, Options, Row
from timing import best_ns, resident_bytes, resident_peak_bytes, start_resident_peak

PEERS = ("tf", "tf jit", "torch", "torch compile", "jax")
KEPT = "tidemark, code kept"


def tidemark_step(name):
    import models

    import tidemark as tf

    tf.constant(1.0) + 1.0
    return lambda: models.compiled_step(tf, name)


def tensorflow_step(name, **options):
    import models
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(2)
    float(tf.constant(1.0) + 1.0)
    return lambda: models.compiled_step(tf, name, **options)


def torch_step(name, compiled=False):
    import torch
    import torch_models

    torch.set_num_threads(2)
    torch.ones(1) + 1.0
    return lambda: torch_models.training_step(torch, name, compiled)


def jax_step(name):
    import jax
    import jax.numpy as jnp
    import jax_models

    (jnp.ones(1) + 1.0).block_until_ready()
    return lambda: jax_models.training_step(jax, name)


STEPS = {
    "tidemark": ("tidemark", tidemark_step),
    "tf": ("tf", tensorflow_step),
    "tf jit": ("tf", lambda name: tensorflow_step(name, jit_compile=True)),
    "torch": ("torch", torch_step),
    "torch compile": ("torch", lambda name: torch_step(name, compiled=True)),
    "jax": ("jax", jax_step),
}


def subject(label: str, name: str) -> InPython:
    """The step of the model ``name`` in the library ``label``; ``KEPT``: code is not unmapped."""
    environment, prepare = STEPS["tidemark" if label == KEPT else label]

    def run(options: Options):
        import numpy

        numpy.random.default_rng(0)  # which loads libraries that the model's data need, not it
        make = prepare(name)
        before = resident_bytes()
        start_resident_peak()
        step = make()
        start = time.perf_counter_ns()
        step()
        first = time.perf_counter_ns() - start
        steady = best_ns(step, calls=5, repeats=options.pick(8, 1))
        return {
            "step_ns": steady,
            "compile_ns": first - steady,
            "memory_mib": (resident_peak_bytes() - before) / 2**20,
        }

    variables = CODE_KEPT if label == KEPT else ()
    return InPython(subject_name(label, name), run, environment=environment, variables=variables)


def subject_name(label: str, name: str) -> str:
    return f"{label} {name}"


def training_case(name: str) -> Case:
    """Time and memory of the step against the best and the smallest of the peers."""

    def row(what, figure, bar, unit, peers, label="", ours="tidemark"):
        return Row(
            what,
            f"{subject_name(ours, name)}.{figure}",
            tuple(f"{subject_name(peer, name)}.{figure}" for peer in peers),
            at_most_ratio=bar,
            unit=unit,
            peer_label=label,
        )

    each = [row(f"… of {p}", "step_ns", None, "ns", [p], p.split()[0]) for p in PEERS]
    memories = [row(f"… of {p}", "memory_mib", None, "MiB", [p], p.split()[0]) for p in PEERS]
    return Case(
        about=f"a training step of the {name} as one function, against all peers",
        subjects=[subject(label, name) for label in (*STEPS, KEPT)],
        rows=[
            row(f"{name} as one function", "step_ns", 1.0, "ns", PEERS),
            *each,
            row(f"{name}, memory", "memory_mib", 0.5, "MiB", PEERS),
            row("… code kept", "memory_mib", None, "MiB", PEERS, ours=KEPT),
            *memories,
        ],
    )
