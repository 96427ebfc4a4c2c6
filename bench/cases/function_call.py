"""Calling a traced function, and tracing a 12-layer transformer with its gradients."""

import time

from case import Case, InPython, Options, Row
from timing import best_ns, resident_bytes

LAYERS, WIDTH, HEADS, LENGTH, BATCH = 12, 64, 4, 16, 2


def tidemark(options: Options):
    import tidemark as tf

    return measure(tf, options)


def tensorflow(options: Options):
    import tensorflow as tf

    return measure(tf, options)


def jax(options: Options):
    import jax
    import jax.numpy as jnp

    one = jax.jit(lambda x: x + x)
    x = jnp.array([1.0, 2.0])
    return {"call_ns": best_ns(lambda: one(x), calls=2000, repeats=options.pick(30, 3))}


def measure(tf, options: Options):
    x = tf.constant([1.0, 2.0])
    one = tf.function(lambda x: x + x)

    @tf.function
    def forty(x):
        for _ in range(20):
            x = x * 1.01 + 0.1
        return x

    seconds, grown = tracing(tf)
    repeats = options.pick(30, 3)
    return {
        "call_ns": best_ns(lambda: one(x), calls=2000, repeats=repeats),
        "forty_ns": best_ns(lambda: forty(x), calls=500, repeats=repeats),
        "trace_s": seconds,
        "trace_bytes": grown,
    }


def tracing(tf):
    """Seconds and resident bytes that tracing the training step takes, the first of its kind."""
    weights = [layer_weights(tf) for _ in range(LAYERS)]
    flat = [w for layer in weights for w in layer]

    def step(x):
        with tf.GradientTape() as tape:
            y = x
            for layer in weights:
                y = block(tf, y, *layer)
            loss = tf.reduce_mean(y * y)
        return [loss, *tape.gradient(loss, flat)]

    warm = tf.function(lambda x: tf.nn.softmax(x @ tf.transpose(x)))  # the machinery itself
    warm(tf.ones([2, 2]))
    spec = tf.TensorSpec([BATCH, LENGTH, WIDTH], tf.float32)
    before, start = resident_bytes(), time.perf_counter()
    traced = tf.function(step).get_concrete_function(spec)
    seconds = time.perf_counter() - start
    grown = resident_bytes() - before
    assert len(traced.outputs) == 1 + len(flat)
    return seconds, max(grown, 1)


def layer_weights(tf):
    def matrix(rows, columns):
        return tf.Variable(tf.random.normal([rows, columns], stddev=0.02))

    return [
        matrix(WIDTH, 3 * WIDTH),
        matrix(WIDTH, WIDTH),
        matrix(WIDTH, 4 * WIDTH),
        matrix(4 * WIDTH, WIDTH),
        tf.Variable(tf.ones([WIDTH])),
        tf.Variable(tf.ones([WIDTH])),
    ]


def normalized(tf, x, scale):
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale


def block(tf, x, qkv, out, wide, narrow, first, second):
    """Attention, then two dense layers, each added to what came in."""
    parts = tf.split(tf.einsum("blw,wk->blk", normalized(tf, x, first), qkv), 3, axis=-1)
    shape = [BATCH, LENGTH, HEADS, WIDTH // HEADS]
    q, k, v = (tf.transpose(tf.reshape(p, shape), [0, 2, 1, 3]) for p in parts)
    scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (WIDTH // HEADS) ** -0.5)
    mixed = tf.transpose(tf.matmul(scores, v), [0, 2, 1, 3])
    x = x + tf.einsum("blw,wk->blk", tf.reshape(mixed, [BATCH, LENGTH, WIDTH]), out)
    hidden = tf.nn.relu(tf.einsum("blw,wk->blk", normalized(tf, x, second), wide))
    return x + tf.einsum("blw,wk->blk", hidden, narrow)


CASE = Case(
    about="calls of traced functions; tracing a 12-layer transformer with gradients",
    subjects=[
        InPython("tidemark", tidemark),
        InPython("jax", jax),
        InPython("tf", tensorflow, rounds=1),
    ],
    rows=[
        Row("call of one op", "tidemark.call_ns", "jax.call_ns", at_most_ratio=0.4, unit="ns"),
        Row("  of tf", "tidemark.call_ns", "tf.call_ns", at_most_ratio=0.05, unit="ns"),
        Row("40 tiny ops", "tidemark.forty_ns", "tf.forty_ns", at_most_ratio=0.1, unit="ns"),
        Row("tracing", "tidemark.trace_s", "tf.trace_s", at_most_ratio=0.25, unit="s"),
        Row(
            "tracing, memory",
            "tidemark.trace_bytes",
            "tf.trace_bytes",
            at_most_ratio=0.25,
            unit="B",
        ),
    ],
)
