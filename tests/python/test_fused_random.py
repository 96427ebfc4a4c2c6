"""Random numbers drawn inside fused steps are the ones drawn outside of them."""

import os

import numpy as np
import pytest

import tidemark as tf
from tidemark import _tidemark

FUSES = os.environ.get("TIDEMARK_FUSION", "on") != "off"

DRAWS = {
    "uniform": lambda shape: tf.random.uniform(shape, -1.0, 2.0),
    "normal": lambda shape: tf.random.normal(shape, 0.5, 2.0),
    "truncated": lambda shape: tf.random.truncated_normal(shape),
    "seeded": lambda shape: tf.random.uniform(shape, seed=7),
}


@pytest.mark.parametrize("shape", [(), (1,), (63,), (65, 3), (300, 70), (0, 4)])
@pytest.mark.parametrize("name", DRAWS)
def test_the_same_numbers_as_eagerly(name, shape):
    x = tf.constant(np.random.default_rng(0).normal(size=shape).astype(np.float32))

    def f(x):
        first = tf.nn.relu(x + DRAWS[name](shape)) * 2.0
        return first, tf.tanh(first * DRAWS[name](shape))

    traced = tf.function(f, autograph=False)
    results = []
    for run in (f, traced):
        tf.random.set_seed(3)
        results.append([t.numpy() for _ in range(3) for t in run(x)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    if FUSES and 0 not in shape:
        assert not any("random_normal" in s.op or "random_uniform" in s.op
                       for s in traced.plan(x).steps)  # fmt: skip


def test_draws_keep_their_order():
    def f(x):
        a = tf.random.uniform([40])
        b = tf.random.normal([40])
        c = tf.random.uniform([3], 0, 100, tf.int32)
        return tf.exp(b) * x, tf.sqrt(a) + x, c, tf.random.uniform([5])

    traced = tf.function(f, autograph=False)
    x = tf.ones([40])
    tf.random.set_seed(11)
    want = [t.numpy() for t in f(x)]
    tf.random.set_seed(11)
    for a, b in zip(traced(x), want, strict=True):
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-5)


def test_numbers_nobody_needs_are_skipped_but_counted():
    @tf.function(autograph=False)
    def f(x):
        tf.random.uniform([1000])
        return x + tf.random.uniform([4])

    tf.random.set_seed(5)
    tf.random.uniform([1000])
    want = 1.0 + tf.random.uniform([4]).numpy()
    tf.random.set_seed(5)
    np.testing.assert_array_equal(f(tf.ones([4])).numpy(), want)


def test_dropout_and_its_gradient_see_one_mask():
    x = tf.ones([64, 100])

    @tf.function(autograph=False)
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.dropout(tf.tanh(x), 0.5)
        return y, tape.gradient(y, x)

    y, dx = f(x)
    np.testing.assert_array_equal(y.numpy() == 0, dx.numpy() == 0)
    assert 0.4 < (y.numpy() == 0).mean() < 0.6
    again, _ = f(x)
    assert (again.numpy() != y.numpy()).any()


def test_a_product_with_noise():
    x, w = tf.ones([70, 32]), tf.ones([32, 90])

    def f(x, w):
        return tf.nn.relu(tf.matmul(x, w) + tf.random.normal([70, 90]))

    traced = tf.function(f, autograph=False)
    tf.random.set_seed(2)
    want = f(x, w).numpy()
    for threads in (1, 2):
        before = _tidemark.set_num_threads(threads)
        try:
            tf.random.set_seed(2)
            np.testing.assert_allclose(traced(x, w).numpy(), want, rtol=1e-6)
        finally:
            _tidemark.set_num_threads(before)
    if FUSES:
        assert [s.op for s in traced.plan(x, w).steps] == ["random_stream", "matmul+fused"]
