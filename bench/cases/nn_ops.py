"""Softmax, layer norm, GELU, cross entropy, embedding gradient, against torch and TF."""

from case import Case, InPython, Options, Row
from timing import interleaved_ns

ROWS, WIDTH, CLASSES, VOCABULARY = 4096, 768, 1000, 20000
OPS = ("softmax", "layer_norm", "gelu", "cross_entropy", "embedding_gradient")


def arrays():
    import numpy

    rng = numpy.random.default_rng(1)
    x = rng.standard_normal((ROWS, WIDTH), dtype=numpy.float32)
    logits = rng.standard_normal((ROWS, CLASSES), dtype=numpy.float32)
    labels = rng.integers(0, CLASSES, ROWS)
    ids = rng.integers(0, VOCABULARY, ROWS)
    return x, logits, labels, ids, numpy.ones(WIDTH, numpy.float32)


def tidemark(options: Options):
    from tidemark._tidemark import call

    import tidemark as tf

    x, logits, labels, ids, ones = (tf.constant(a) for a in arrays())
    shape = tf.constant([VOCABULARY, WIDTH])
    calls = {
        "softmax": lambda: tf.nn.softmax(x),
        "layer_norm": lambda: tf.nn.experimental.layer_norm(x, ones, ones),
        "gelu": lambda: tf.nn.gelu(x),
        "cross_entropy": lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits),
        "embedding_gradient": lambda: call("gather_grad", (ids, x, shape), {"axis": 0}),
    }
    return interleaved_ns(calls, calls=2, repeats=options.pick(12, 2))


def torch(options: Options):
    import torch
    import torch.nn.functional as nn

    torch.set_num_threads(2)
    x, logits, labels, ids, ones = (torch.tensor(a) for a in arrays())
    backward = torch.ops.aten.embedding_dense_backward
    calls = {
        "softmax": lambda: torch.softmax(x, -1),
        "layer_norm": lambda: nn.layer_norm(x, (WIDTH,), ones, ones),
        "gelu": lambda: nn.gelu(x),
        "cross_entropy": lambda: nn.cross_entropy(logits, labels, reduction="none"),
        "embedding_gradient": lambda: backward(x, ids, VOCABULARY, -1, False),
    }
    with torch.inference_mode():
        return interleaved_ns(calls, calls=2, repeats=options.pick(12, 2))


def tensorflow(options: Options):
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(2)
    x, logits, labels, ids, ones = (tf.constant(a) for a in arrays())

    @tf.function
    def layer_norm(x):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, ones, ones, 1e-5)

    calls = {
        "softmax": lambda: tf.nn.softmax(x),
        "layer_norm": lambda: layer_norm(x),
        "gelu": lambda: tf.nn.gelu(x),
        "cross_entropy": lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits),
        "embedding_gradient": lambda: tf.math.unsorted_segment_sum(x, ids, VOCABULARY),
    }
    return interleaved_ns(calls, calls=2, repeats=options.pick(12, 2))


CASE = Case(
    about="softmax, layer norm, GELU, cross entropy, embedding gradient, against torch and TF",
    subjects=[
        InPython("tidemark", tidemark),
        InPython("torch", torch),
        InPython("tf", tensorflow),
    ],
    rows=[
        Row(
            op.replace("_", " "),
            f"tidemark.{op}",
            (f"torch.{op}", f"tf.{op}"),
            at_most_ratio=1.0,
            unit="ns",
        )
        for op in OPS
    ],
)
