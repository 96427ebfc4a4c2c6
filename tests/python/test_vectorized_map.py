"""tf.vectorized_map does for all elements at once what tf.map_fn does one by one."""

import numpy as np
import pytest
from tidemark._graph.vectorized import NoRule, vectorized

import tidemark as tf

W = tf.constant(np.linspace(-1, 1, 12).reshape(3, 4).astype(np.float32))
V = tf.constant([0.5, -1.0, 2.0, 0.25])
X = tf.constant(np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32))
M = tf.constant(np.random.default_rng(1).normal(size=(5, 4, 3)).astype(np.float32))
I = tf.constant([[0, 1], [2, 2], [1, 0], [3, 1], [0, 0]])  # noqa: E741

BATCHED = {
    "elementwise": (lambda x: tf.exp(x) * V + tf.square(x) / 2.0 - 1.0, X),
    "broadcast": (lambda x: x[:, None] * W[0] + tf.reduce_sum(x), X),
    "of different ranks": (lambda x: tf.reduce_sum(x) * W + x, X),
    "matmul": (lambda m: W @ m, M),
    "matmul both": (lambda m: tf.matmul(m, m, transpose_a=True), M),
    "tensordot": (lambda x: tf.tensordot(W, x, 1), X),
    "einsum": (lambda m: tf.einsum("ij,ik->jk", m, m), M),
    "reduce": (lambda m: (tf.reduce_max(m, 0), tf.reduce_mean(m, -1, keepdims=True)), M),
    "reduce all": (lambda m: (tf.reduce_sum(m), tf.reduce_any(m > 1.0)), M),
    "softmax": (lambda x: tf.nn.softmax(x) + tf.nn.log_softmax(x), X),
    "arg": (lambda m: (tf.argmax(m, 0), tf.argmin(m, -1)), M),
    "cumsum": (lambda m: (tf.cumsum(m), tf.cumsum(m, axis=1, reverse=True)), M),
    "reshape": (lambda m: tf.reshape(m, [-1]), M),
    "reshape by shape": (lambda m: tf.reshape(m, [tf.shape(m)[1], -1]), M),
    "transpose": (lambda m: (tf.transpose(m), tf.transpose(m, [0, 1])), M),
    "slices": (lambda m: (m[1], m[:, 0], m[1:3, ::2], m[..., -1], m[::-1]), M),
    "expand and squeeze": (lambda x: tf.squeeze(tf.expand_dims(x, 0)), X),
    "concat": (lambda x: tf.concat([x, V, x * 2.0], 0), X),
    "stack": (lambda x: tf.stack([x, V], axis=-1), X),
    "gather constant": (lambda i: tf.gather(W[0], i), I),
    "gather element": (lambda x: tf.gather(x, [3, 0]), X),
    "gather both": (lambda p: tf.gather(p[0], p[1]), (X, I)),
    "pad and tile": (lambda x: tf.pad(tf.tile(x, [2]), [[1, 2]]), X),
    "where": (lambda x: tf.where(x > 0.0, x, V), X),
    "not of the element": (lambda x: (W * 2.0, x), X),
    "structure": (lambda d: {"sum": d["a"] + d["b"][0], "b": d["b"]}, {"a": X, "b": [X * 2.0]}),
    "gradient": (None, X),
}


def gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.tanh(tf.tensordot(W, x, 1)) * 2.0)
    return tape.gradient(y, x)


def one_by_one(fn, elems):
    count = tf.nest.flatten(elems)[0].shape[0]
    results = [fn(tf.nest.map_structure(lambda t: t[k], elems)) for k in range(count)]  # noqa: B023
    return tf.nest.map_structure(lambda *rows: np.stack([np.array(r) for r in rows]), *results)


def check(got, expected):
    for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(np.array(a), b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", list(BATCHED))
def test_all_at_once(name):
    fn, elems = BATCHED[name]
    fn = fn or gradient
    expected = one_by_one(fn, elems)
    check(vectorized(fn, elems), expected)  # without a loop
    check(tf.vectorized_map(fn, elems), expected)
    check(tf.function(lambda e: tf.vectorized_map(fn, e))(elems), expected)


def test_what_has_no_rule_loops():
    fn = lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x)  # noqa: E731
    with pytest.raises(NoRule):
        vectorized(fn, X)
    check(tf.vectorized_map(fn, X), one_by_one(fn, X))
    with pytest.raises(ValueError, match="No pfor vectorization"):
        tf.vectorized_map(fn, X, fallback_to_while_loop=False)


def test_variables_and_random_numbers():
    v = tf.Variable(V)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.vectorized_map(lambda x: x * v, X))
    np.testing.assert_allclose(tape.gradient(y, v), np.sum(X.numpy(), 0), rtol=1e-5)
    noise = tf.vectorized_map(lambda x: tf.random.normal([2]), X).numpy()
    assert noise.shape == (5, 2) and len(np.unique(noise)) == 10


def test_gradients_flow_through():
    x = tf.identity(X)
    with tf.GradientTape() as tape:
        tape.watch([x, W])
        y = tf.vectorized_map(lambda row: tf.reduce_sum(tf.tensordot(W, row, 1) ** 2), x)
    dx, dw = tape.gradient(y, [x, W])
    with tf.GradientTape() as tape:
        tape.watch([x, W])
        z = tf.reduce_sum(tf.linalg.matmul(x, W, transpose_b=True) ** 2, -1)
    wanted = tape.gradient(z, [x, W])
    np.testing.assert_allclose(dx, wanted[0], rtol=1e-4)
    np.testing.assert_allclose(dw, wanted[1], rtol=1e-4)


def softmax_gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.nn.softmax(x) * V)
    return tape.gradient(y, x)


# Ops of whose definitions alone vectorisation knows how they are done.
BY_DEFINITION = {
    "log_sigmoid": (tf.math.log_sigmoid, X),
    "erfinv": (lambda x: tf.math.erfinv(tf.tanh(x)), X),
    "bitwise": (lambda i: tf.bitwise.left_shift(i, tf.bitwise.invert(i) & 3), I),
    "bessel_i0e": (tf.math.bessel_i0e, X),
    "igamma": (lambda x: tf.math.igamma(tf.abs(x) + 0.1, 1.5), X),
    "euclidean_norm": (lambda m: tf.math.reduce_euclidean_norm(m, axis=0), M),
    "cumulative_logsumexp": (lambda m: tf.math.cumulative_logsumexp(m, axis=-1), M),
    "sort": (lambda m: (tf.sort(m, axis=0), tf.argsort(m)), M),
    "split": (lambda x: tf.split(x, 2), X),
    "unstack": (lambda m: tf.unstack(m, axis=1), M),
    "softmax_grad": (softmax_gradient, X),
}


@pytest.mark.parametrize("name", list(BY_DEFINITION))
def test_ops_that_their_definitions_describe(name):
    fn, elems = BY_DEFINITION[name]
    check(vectorized(fn, elems), one_by_one(fn, elems))
