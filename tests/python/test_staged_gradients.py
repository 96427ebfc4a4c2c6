"""Gradients through loops, arrays, maps and folds in graphs, against the same code run eagerly."""

import numpy as np
import pytest

import tidemark as tf


def _numeric(f, x, eps=1e-5):
    out = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[i] += eps
        down[i] -= eps
        out[i] = (float(tf.reduce_sum(f(tf.constant(up)))) -
                  float(tf.reduce_sum(f(tf.constant(down))))) / (2 * eps)  # fmt: skip
    return out


def check(f, x, second_order=True):
    """Compares graph and eager values, gradients inside and outside of the graph, and numbers."""
    x = np.asarray(x, np.float64)
    t = tf.constant(x)
    graph = tf.function(f)

    def gradient(function):
        def of(value):
            with tf.GradientTape() as tape:
                tape.watch(value)
                y = tf.reduce_sum(function(value))
            return tape.gradient(y, value)

        return of

    np.testing.assert_allclose(graph(t), f(t), rtol=1e-9)
    eager = gradient(f)(t)
    np.testing.assert_allclose(eager, _numeric(f, x), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(gradient(graph)(t), eager, rtol=1e-9)
    np.testing.assert_allclose(tf.function(gradient(f))(t), eager, rtol=1e-9)
    loose = tf.TensorSpec([None] * x.ndim, tf.float64)
    np.testing.assert_allclose(
        tf.function(gradient(f), input_signature=[loose])(t), eager, rtol=1e-9
    )
    if second_order:
        expected = gradient(gradient(f))(t)
        if expected is not None:
            np.testing.assert_allclose(gradient(gradient(graph))(t), expected, rtol=1e-8)
            got = tf.function(gradient(gradient(f)))(t)
            np.testing.assert_allclose(got, expected, rtol=1e-8)


X = np.array([0.3, -0.7, 1.1])


def test_while_loop():
    def f(x):
        return tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v * v + x), (0, x))[1]

    check(f, X)


def test_nested_loops_and_conditions():
    def inner(i, v, x):
        return tf.while_loop(
            lambda j, w: j < i,
            lambda j, w: (j + 1, tf.cond(tf.reduce_sum(w) > 0, lambda: w * x, lambda: tf.sin(w))),
            (0, v),
        )[1]

    def f(x):
        return tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, inner(i, v, x) + x), (0, x))[
            1
        ]

    check(f, X)


def test_variables_in_loops():
    v = tf.Variable(np.array(1.5))

    @tf.function
    def gradient(n):
        with tf.GradientTape() as tape:
            y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * v), (0, v * 1.0))[1]
        return tape.gradient(y, v)

    assert float(gradient(tf.constant(3))) == pytest.approx(4 * 1.5**3)


@pytest.mark.parametrize("dynamic", [False, True])
def test_arrays_written_in_loops(dynamic):
    def f(x):
        array = tf.TensorArray(tf.float64, size=0 if dynamic else 4, dynamic_size=dynamic)
        _, _, array = tf.while_loop(
            lambda i, v, a: i < 4,
            lambda i, v, a: (i + 1, v * x, a.write(i, tf.sin(v))),
            (0, x, array),
        )
        return array.stack() * tf.constant([[1.0], [2.0], [3.0], [4.0]], tf.float64)

    check(f, X)


def test_elements_written_over():
    def f(x):
        array = tf.TensorArray(tf.float64, size=2, clear_after_read=False).unstack(tf.stack([x, x]))
        array = array.write(0, x * x)
        array = array.write(0, array.read(1) * array.read(0))
        return array.stack()

    check(f, X)


def test_arrays_read_in_loops():
    def f(x):
        array = tf.TensorArray(tf.float64, size=3, clear_after_read=False).unstack(x)

        def body(i, v, a):
            value = a.read(i) * a.read((i + 1) % 3)
            return i + 1, v + value, a.write(i, value)

        _, total, array = tf.while_loop(
            lambda i, v, a: i < 3, body, (0, tf.constant(0.0, tf.float64), array)
        )
        return total * array.gather([0, 2])

    check(f, X)


def test_concat_and_scatter():
    def f(x):
        array = tf.TensorArray(tf.float64, size=3).scatter([2, 0], tf.stack([x, x * x]))
        return array.concat() ** 2

    check(f, X)


def test_map_fn():
    check(lambda x: tf.map_fn(lambda v: tf.sin(v) * v, x), X)
    check(
        lambda x: tf.map_fn(lambda v: v[0] * v[1], (x, x + 1.0), fn_output_signature=tf.float64), X
    )


def test_vectorized_map():
    check(lambda x: tf.vectorized_map(lambda v: tf.exp(v) * v, x), X)


def test_folds():
    check(lambda x: tf.foldl(lambda a, v: a * v + tf.cos(v), x), X)
    check(lambda x: tf.foldr(lambda a, v: a * v + tf.cos(v), x), X)
    check(lambda x: tf.foldl(lambda a, v: a * v, x, initializer=tf.constant(2.0, tf.float64)), X)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(reverse):
    check(lambda x: tf.scan(lambda a, v: a * v + v, x, reverse=reverse), X)
    start = tf.constant(0.5, tf.float64)
    check(lambda x: tf.scan(lambda a, v: a * v, x, initializer=start, reverse=reverse), X)


def test_for_over_a_tensor():
    def f(x):
        total = tf.constant(1.0, tf.float64)
        for v in x:
            total = total * v + v
        return total

    graph = tf.function(f)
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = graph(x)
    got = tape.gradient(y, x)
    assert isinstance(got, tf.Tensor)
    np.testing.assert_allclose(got, _numeric(f, X), rtol=1e-6)


def test_case_and_switch_case():
    def f(x):
        total = tf.reduce_sum(x)
        y = tf.case([(total > 10, lambda: x), (total > 0, lambda: x * x)], default=lambda: -x)
        return tf.switch_case(tf.constant(1), [lambda: y, lambda: y * x])

    check(f, X)


def test_maps_are_loops_of_the_graph():
    calls = []

    @tf.function
    def f(x):
        def one(v):
            calls.append(1)
            return v * 2.0

        return tf.map_fn(one, x), tf.scan(lambda a, v: a + one(v), x)

    mapped, scanned = f(tf.ones(50))
    assert len(calls) <= 4
    assert mapped.shape == scanned.shape == (50,)
    assert mapped.numpy().tolist() == [2.0] * 50


def test_gradients_of_long_loops_cost_a_row_a_round():
    """With a copy of the whole array each round this would move 30 GB."""

    @tf.function
    def gradient(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, size=n, element_shape=(256,))
            for i in tf.range(n):
                array = array.write(i, x * tf.cast(i, tf.float32))
            total = tf.constant(0.0)
            for i in tf.range(n):
                total += tf.reduce_sum(array.read(i))
        return tape.gradient(total, x)

    got = gradient(tf.ones(256), tf.constant(4000))
    np.testing.assert_allclose(got, np.full(256, 4000 * 3999 / 2), rtol=1e-4)


@pytest.mark.parametrize("conditions", [(True, True), (False, False)])
def test_conditions_of_case_are_checked_when_the_graph_runs(conditions):
    @tf.function
    def pick(a, b):
        return tf.case([(a, lambda: 1), (b, lambda: 2)], exclusive=True)

    assert int(pick(tf.constant(False), tf.constant(True))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="condition"):
        pick(*map(tf.constant, conditions))


def test_forward_mode_through_loops():
    @tf.function
    def f(x):
        for _ in tf.range(4):
            x = tf.sin(x) * x + 1.0
        rows = tf.scan(lambda a, v: a * v + v, x)
        return tf.exp(rows * 0.1) + rows

    x = tf.constant(X)
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(f(x))
    forward = float(tf.reduce_sum(accumulator.jvp(y)))
    assert forward == pytest.approx(float(tf.reduce_sum(tape.gradient(total, x))))
