"""tf.custom_gradient, tf.recompute_grad and tf.autodiff.ForwardAccumulator."""

import numpy as np
import pytest

import tidemark as tf


def grad_of(f, *xs):
    xs = [tf.constant(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, xs)


def test_custom_gradient_replaces_the_ops_own():
    @tf.custom_gradient
    def clipped(x):
        def grad(dy):
            return tf.clip_by_value(dy, -1.0, 1.0)

        return x * 5.0, grad

    assert clipped(tf.constant(2.0)).numpy() == 10
    assert grad_of(lambda x: clipped(x) * 7.0, 2.0)[0].numpy() == 1


def test_custom_gradient_of_several_values():
    @tf.custom_gradient
    def both(x, y):
        def grad(da, db):
            return da * 10.0 + db, None

        return (x + y, {"b": x * y}["b"]), grad

    dx, dy = grad_of(lambda x, y: both(x, y)[0] + both(x, y)[1] * 3.0, 2.0, 4.0)
    assert dx.numpy() == 13
    assert dy is None


def test_custom_gradient_with_variables():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        y = x * v

        def grad(dy, variables=None):
            return dy * 100.0, [dy * 1000.0 for _ in variables]

        return y, grad

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x)
    dx, dv = tape.gradient(y, [x, v])
    assert (y.numpy(), dx.numpy(), dv.numpy()) == (6, 100, 1000)

    @tf.custom_gradient
    def without(x):
        return x * v, lambda dy: dy

    with tf.GradientTape(), pytest.raises(TypeError, match="variables"):
        without(x)


def test_custom_gradient_second_order_and_methods():
    class Layer:
        @tf.custom_gradient
        def cube(self, x):
            return x**3, lambda dy: dy * 3.0 * x**2

    layer = Layer()
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = layer.cube(x)
        dy = inner.gradient(y, x)
    assert dy.numpy() == 12
    assert outer.gradient(dy, x).numpy() == pytest.approx(12)


def test_custom_gradient_of_a_wrong_length():
    @tf.custom_gradient
    def bad(x, y):
        return x + y, lambda dy: dy

    with pytest.raises(ValueError, match="2 gradients"):
        grad_of(bad, 1.0, 2.0)


def test_recompute_grad():
    v = tf.Variable([[0.5, 0.1], [0.2, 0.3]])

    def block(x):
        return tf.tanh(tf.tanh(x @ v) @ v)

    x = tf.constant([[1.0, 2.0]])
    found = []
    for f in (block, tf.recompute_grad(block)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(f(x) ** 2)
        found.append(tape.gradient(y, [x, v]))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_indexed_slices():
    rows = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([2, 2]), tf.constant([3, 1]))
    assert rows.shape.as_list() == [3, 1] and rows.dtype == tf.float32
    assert tf.convert_to_tensor(rows).numpy().tolist() == [[0], [0], [3]]
    assert (-rows).values.numpy().tolist() == [[-1], [-2]]
    assert str(rows).startswith("IndexedSlices(indices=tf.Tensor([2 2]")
    with pytest.raises(ValueError, match="dense_shape is None"):
        tf.convert_to_tensor(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))


FORWARD = {
    "chain": lambda x: tf.sin(x * x) / (1.0 + tf.exp(x)),
    "matmul": lambda x: tf.matmul(x, x, transpose_b=True) @ tf.tanh(x),
    "reduce": lambda x: x / tf.reduce_sum(x * x, axis=1, keepdims=True),
    "gather": lambda x: tf.gather(x, [1, 0, 1]) ** 2,
    "split": lambda x: tf.split(x, 3, axis=1)[1] * tf.unstack(x, axis=1)[2],
    "max": lambda x: tf.reduce_max(x, axis=0) * x,
}


@pytest.mark.parametrize("name", FORWARD)
def test_forward_accumulator(name):
    f = FORWARD[name]
    rng = np.random.default_rng(3)
    x, t = rng.uniform(0.2, 0.9, (2, 3)), rng.normal(size=(2, 3))
    primal = tf.constant(x)
    with tf.autodiff.ForwardAccumulator(primal, tf.constant(t)) as acc:
        y = f(primal)
    step = 1e-6
    up, down = f(tf.constant(x + step * t)).numpy(), f(tf.constant(x - step * t)).numpy()
    np.testing.assert_allclose(acc.jvp(y).numpy(), (up - down) / (2 * step), rtol=1e-6, atol=1e-8)


def test_forward_accumulator_over_variables_and_structures():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.autodiff.ForwardAccumulator([v, w], [tf.constant([1.0, 0.0]), tf.ones([2])]) as acc:
        y = v * w
        z = tf.constant(1.0) * 2.0
    assert acc.jvp(y).numpy().tolist() == [4, 2]
    assert acc.jvp({"y": y, "z": z})["z"] is None
    assert acc.jvp(z, unconnected_gradients="zero").numpy() == 0
    with pytest.raises(ValueError):
        tf.autodiff.ForwardAccumulator(v, tf.ones([3]))


def test_forward_over_reverse_and_reverse_over_forward():
    x, t = tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0])
    with tf.autodiff.ForwardAccumulator(x, t) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x**3)
        dy = tape.gradient(y, x)
    np.testing.assert_allclose(acc.jvp(dy).numpy(), [6, 36])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, t) as acc:
            y = tf.reduce_sum(x**3)
        forward = acc.jvp(y)
    np.testing.assert_allclose(tape.gradient(forward, x).numpy(), [6, 36])
