"""tanh(w) * exp(-w) with w = 2x² + 1 over 16 M floats in one pass, against compilers and a copy."""

from case import Case, InPython, Options, Row
from timing import interleaved_ns, normal_floats

SIDE = 4096


def tidemark(options: Options):
    import tidemark as tf

    # Times one, so that the numbers lie in a buffer of ours and not in NumPy's.
    x = tf.constant(normal_floats(1, SIDE)) * 1.0

    @tf.function
    def fused(x):
        w = 2.0 * x * x + 1.0
        return tf.tanh(w) * tf.exp(-w)

    # The larger of these two is what the work costs at least: moving the numbers, or the two
    # functions by themselves, read and written once together.
    @tf.function
    def functions(x):
        return tf.tanh(x) * tf.exp(x)

    for _ in range(3):
        fused(x), functions(x)
    times = interleaved_ns(
        {"fused": lambda: fused(x), "functions": lambda: functions(x), "copy": lambda: x * 1.0},
        calls=1,
        repeats=options.pick(12, 2),
    )
    times["at_least"] = max(times["functions"], times["copy"])
    plan = fused.plan(x)
    times["extra_bytes"] = plan.to_dict()["peak"] - x.shape.num_elements() * 4
    return times


def torch(options: Options):
    import torch

    torch.set_num_threads(2)
    x = torch.tensor(normal_floats(1, SIDE))

    @torch.compile
    def fused(x):
        w = 2.0 * x * x + 1.0
        return torch.tanh(w) * torch.exp(-w)

    with torch.inference_mode():
        fused(x)
        return interleaved_ns({"fused": lambda: fused(x)}, calls=1, repeats=options.pick(12, 2))


def jax(options: Options):
    import jax
    import jax.numpy as jnp

    x = jnp.asarray(normal_floats(1, SIDE))

    @jax.jit
    def fused(x):
        w = 2.0 * x * x + 1.0
        return jnp.tanh(w) * jnp.exp(-w)

    fused(x).block_until_ready()
    return interleaved_ns(
        {"fused": lambda: fused(x).block_until_ready()}, calls=1, repeats=options.pick(12, 2)
    )


def tensorflow(options: Options):
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(2)
    x = tf.constant(normal_floats(1, SIDE))

    @tf.function(jit_compile=True)
    def fused(x):
        w = 2.0 * x * x + 1.0
        return tf.tanh(w) * tf.exp(-w)

    fused(x)
    return interleaved_ns({"fused": lambda: fused(x)}, calls=1, repeats=options.pick(12, 2))


CASE = Case(
    about="tanh(w) * exp(-w), w = 2x² + 1, in one pass",
    subjects=[
        InPython("tidemark", tidemark),
        InPython("torch", torch),
        InPython("jax", jax),
        InPython("tensorflow", tensorflow, environment="tf"),
    ],
    rows=[
        Row(
            "16 M, over copy or functions",
            "tidemark.fused",
            "tidemark.at_least",
            at_most_ratio=1.2,
            unit="ns",
        ),
        Row(
            "16 M, against compilers",
            "tidemark.fused",
            ("torch.fused", "jax.fused", "tensorflow.fused"),
            at_most_ratio=1.0,
            unit="ns",
        ),
        Row("memory beside the result", "tidemark.extra_bytes", at_most=0, unit="bytes"),
    ],
)
