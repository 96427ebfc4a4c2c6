"""Scaled dot-product attention against torch's and a composition in TensorFlow."""

from case import Case, InPython, Options, Row
from timing import interleaved_ns

SHAPES = {"8x4x128x64": (8, 4, 128, 64), "1x12x1024x64": (1, 12, 1024, 64)}


def arrays(shape):
    import numpy

    rng = numpy.random.default_rng(1)
    return [rng.standard_normal(shape, dtype=numpy.float32) for _ in range(3)]


def tidemark(options: Options):
    import tidemark as tf

    attend, calls = tf.nn.experimental.scaled_dot_product_attention, {}
    for name, shape in SHAPES.items():
        inputs = [tf.constant(a) * 1.0 for a in arrays(shape)]
        calls[name] = lambda inputs=inputs: attend(*inputs)
    return interleaved_ns(calls, calls=2, repeats=options.pick(12, 2))


def torch(options: Options):
    import torch

    torch.set_num_threads(2)
    attend, calls = torch.nn.functional.scaled_dot_product_attention, {}
    for name, shape in SHAPES.items():
        inputs = [torch.tensor(a) for a in arrays(shape)]
        calls[name] = lambda inputs=inputs: attend(*inputs)
    with torch.inference_mode():
        return interleaved_ns(calls, calls=2, repeats=options.pick(12, 2))


def tensorflow(options: Options):
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(2)

    @tf.function
    def attend(q, k, v):
        return tf.nn.softmax(tf.matmul(q * 0.125, k, transpose_b=True)) @ v

    calls = {}
    for name, shape in SHAPES.items():
        inputs = [tf.constant(a) for a in arrays(shape)]
        calls[name] = lambda inputs=inputs: attend(*inputs)
    return interleaved_ns(calls, calls=2, repeats=options.pick(12, 2))


CASE = Case(
    about="attention of 8x4x128x64 and 1x12x1024x64, against torch and TensorFlow",
    subjects=[
        InPython("tidemark", tidemark),
        InPython("torch", torch),
        InPython("tf", tensorflow),
    ],
    rows=[
        Row(
            f"attention {name}",
            f"tidemark.{name}",
            (f"torch.{name}", f"tf.{name}"),
            at_most_ratio=1.0,
            unit="ns",
        )
        for name in SHAPES
    ],
)
