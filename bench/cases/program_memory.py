"""Memory of whole training programs, in each library's usual words, over that after the imports.

TensorFlow's are Keras's layers and optimizer in a tf.function, as its users write them. Nothing
runs before but the imports (in JAX one array, which starts its backend): what a library loads or
makes at first use is part of what the program takes. The stricter reading, of the same models in
plain tensor ops and after a tiny call, is that of compiled_mlp, compiled_cnn and compiled_gpt.
"""

from case import CODE_KEPT, Case, InPython, Row
from timing import best_ns, resident_bytes, resident_peak_bytes, start_resident_peak

NAMES = ("mlp", "cnn", "gpt")
PEERS = ("tf", "tf jit", "torch", "torch compile", "jax")


def tidemark_program():
    import models

    import tidemark as tf

    return lambda name: models.compiled_step(tf, name)


def keras_program(library, **options):
    import importlib

    import keras_steps

    tf = importlib.import_module(library)
    tf.keras.layers  # noqa: B018  an import of its own
    return lambda name: keras_steps.training_step(tf, name, **options)


def torch_program(compiled=False):
    import torch
    import torch_models

    torch.set_num_threads(2)
    return lambda name: torch_models.training_step(torch, name, compiled)


def jax_program():
    import jax
    import jax.numpy as jnp
    import jax_models

    jnp.ones(1).block_until_ready()
    return lambda name: jax_models.training_step(jax, name)


KEPT = ", code kept"  # added to the name of a program of ours in which code is not unmapped

PROGRAMS = {
    "tidemark": ("tidemark", tidemark_program),
    "tidemark keras": ("tidemark", lambda: keras_program("tidemark")),
    "tf": ("tf", lambda: keras_program("tensorflow")),
    "tf jit": ("tf", lambda: keras_program("tensorflow", jit_compile=True)),
    "torch": ("torch", torch_program),
    "torch compile": ("torch", lambda: torch_program(compiled=True)),
    "jax": ("jax", jax_program),
}


def subject(label, name):
    environment, load = PROGRAMS[label.removesuffix(KEPT)]

    def run(options):
        import numpy

        numpy.random.default_rng(0)  # which loads libraries that the programs' data need
        make = load()
        before = resident_bytes()
        start_resident_peak()
        step = make(name)
        best_ns(step, calls=10, repeats=options.pick(5, 1))
        return {"memory_mib": (resident_peak_bytes() - before) / 2**20}

    variables = CODE_KEPT if label.endswith(KEPT) else ()
    return InPython(f"{label} {name}", run, environment=environment, variables=variables)


def row(what, name, peers, ours="tidemark", bar=None, label=""):
    measured = tuple(f"{peer} {name}.memory_mib" for peer in peers)
    return Row(what, f"{ours} {name}.memory_mib", measured, bar, unit="MiB", peer_label=label)


def rows(name):
    yield row(f"{name} program, memory", name, PEERS, bar=0.5)
    yield row("… code kept", name, PEERS, ours=f"tidemark{KEPT}")
    for peer in PEERS:
        yield row(f"… of {peer}", name, [peer], label=peer.split()[0])
    yield row(f"{name} in Keras", name, ["tf"], ours="tidemark keras", label="tf")
    yield row("… code kept", name, ["tf"], ours=f"tidemark keras{KEPT}", label="tf")


LABELS = (*PROGRAMS, f"tidemark{KEPT}", f"tidemark keras{KEPT}")

CASE = Case(
    about="memory of training programs as users write them, from the imports on, against all peers",
    subjects=[subject(label, name) for name in NAMES for label in LABELS],
    rows=[either for name in NAMES for either in rows(name)],
    rounds=2,
)
