"""tf.GradientTape: every option, against known values and finite differences."""

import threading

import numpy as np
import pytest

import tidemark as tf


def grad(f, x, **options):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, **options)


def finite_differences(f, x, step=1e-6):
    x = np.array(x, np.float64)
    out = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        difference = np.sum(f(tf.constant(up)).numpy()) - np.sum(f(tf.constant(down)).numpy())
        out[at] = difference / (2 * step)
    return out


COMPOSITES = {
    "polynomial": lambda x: x**3 - 2.0 * x * x + x / 3.0,
    "softmax": lambda x: tf.exp(x) / tf.reduce_sum(tf.exp(x), axis=-1, keepdims=True) * x,
    "layer_norm": lambda x: (
        (x - tf.reduce_mean(x, -1, keepdims=True))
        / tf.sqrt(tf.math.reduce_variance(x, -1, keepdims=True) + 0.1)
        * x
    ),
    "matmul": lambda x: tf.tanh(tf.matmul(x, x, transpose_b=True)) @ x,
    "broadcast": lambda x: x * x[0] + x[:, :1] / (2.0 + tf.reduce_sum(x, 0)),
    "concat": lambda x: tf.sin(tf.concat([x, x * 2.0], 1)) * tf.concat([x * x, x], 1),
    "gather": lambda x: tf.gather(x, [0, 1, 0]) * tf.gather(x, [1, 1, 0], axis=0),
    "prod": lambda x: tf.reduce_prod(x, axis=1) * tf.reduce_max(x, axis=1),
    "split": lambda x: tf.split(x, 3, axis=1)[0] * tf.unstack(x, axis=1)[2][:, None],
    "logsumexp": lambda x: tf.reduce_logsumexp(x * x, axis=0),
    "where": lambda x: tf.where(x > 0.5, x * x, tf.exp(x)),
    "transpose": lambda x: tf.transpose(x)[::2] * tf.reshape(x, [3, 2])[:2],
}


@pytest.mark.parametrize("name", COMPOSITES)
def test_composite_functions(name):
    f = COMPOSITES[name]
    x = np.random.default_rng(5).uniform(0.2, 0.9, (2, 3))
    got = tf.convert_to_tensor(grad(f, x)).numpy()
    np.testing.assert_allclose(got, finite_differences(f, x), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", COMPOSITES)
def test_second_order(name):
    f = COMPOSITES[name]
    x = np.random.default_rng(6).uniform(0.2, 0.9, (2, 3))

    def first(x):
        return tf.convert_to_tensor(grad_through(f, x)) * tf.constant(
            [[1.0, 2, 3], [4, 5, 6]], x.dtype
        )

    def grad_through(f, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    got = tf.convert_to_tensor(grad(first, x)).numpy()
    np.testing.assert_allclose(got, finite_differences(first, x), rtol=1e-5, atol=1e-6)


def test_third_order():
    x = tf.constant(2.0)
    with tf.GradientTape() as a:
        a.watch(x)
        with tf.GradientTape() as b:
            b.watch(x)
            with tf.GradientTape() as c:
                c.watch(x)
                y = x**4
            d1 = c.gradient(y, x)
        d2 = b.gradient(d1, x)
    assert a.gradient(d2, x).numpy() == pytest.approx(48)


def test_structures_are_kept():
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        targets = {"a": v * x, "b": [w * w]}
    got = tape.gradient(targets, {"x": x, "vars": (v, [w])})
    assert got["x"].numpy() == 3
    assert got["vars"][0].numpy() == 2
    assert isinstance(got["vars"], tuple) and got["vars"][1][0].numpy() == 8
    with tf.GradientTape() as tape:
        y = v * v
    assert [g.numpy() for g in tape.gradient(y, [v])] == [6]


def test_unconnected_gradients():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    assert tape.gradient(y, [v, w])[1] is None
    got = tape.gradient(y, w, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert got.numpy().tolist() == [0]
    assert tape.gradient(y, w, unconnected_gradients="zero").numpy().tolist() == [0]
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients"):
        tape.gradient(y, w, unconnected_gradients="nonsense")


def test_output_gradients_weigh_the_elements():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x, output_gradients=tf.constant([10.0, 100.0])).numpy().tolist() == [
        20,
        400,
    ]


def test_targets_are_summed():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        ys = [x * x, x]
    assert tape.gradient(ys, x).numpy().tolist() == [3, 5]


def test_watching():
    v = tf.Variable(3.0)
    fixed = tf.Variable(3.0, trainable=False)
    with tf.GradientTape(persistent=True) as tape:
        y = v * fixed
    assert tape.gradient(y, fixed) is None
    assert tape.gradient(y, v).numpy() == 3
    assert [w.ref() for w in tape.watched_variables()] == [v.ref()]
    with tf.GradientTape(watch_accessed_variables=False, persistent=True) as tape:
        tape.watch(fixed)
        y = v * fixed
    assert tape.gradient(y, v) is None
    assert tape.gradient(y, fixed).numpy() == 3
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="not tf.Tensor"):
        tape.watch([1.0])


def test_integers_have_no_gradient():
    i = tf.constant(3)
    with tf.GradientTape() as tape:
        tape.watch(i)
        y = i * i
    assert tape.gradient(y, i) is None
    n = tf.Variable(3)
    with tf.GradientTape() as tape:
        y = tf.cast(n, tf.float32) * 2.0
    assert tape.gradient(y, n) is None


def test_target_may_be_the_source():
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient([y, x], [x, y])[0].numpy().tolist() == [5, 7]


def test_intermediate_values_are_sources_too():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    dx, dy = tape.gradient(z, [x, y])
    assert (dx.numpy(), dy.numpy()) == (32, 8)


def test_readings_from_before_are_constants():
    v = tf.Variable([3.0])
    for old in (v.read_value(), v.value(), tf.convert_to_tensor(v), tf.identity(v), v[...]):
        with tf.GradientTape() as tape:
            y = (v - old) ** 2 + v * old
        assert tape.gradient(y, v).numpy().tolist() == [3]
    with tf.GradientTape() as tape:
        inside = tf.convert_to_tensor(v)
        y = inside * inside
    assert tape.gradient(y, v).numpy().tolist() == [6]


def test_variable_assigned_while_recording():
    v = tf.Variable([3.0])
    with tf.GradientTape() as tape:
        y = v * v
        v.assign_add([1.0])
        y += 2.0 * v
        z = v + 0.0
        v.assign([100.0])
    assert tape.gradient([y, z], v).numpy().tolist() == [9]
    assert y.numpy().tolist() == [17]


def test_stop_recording_reset_and_stop_gradient():
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        with tape.stop_recording():
            z = v * v
        w = v * tf.stop_gradient(v)
    assert tape.gradient(y, v).numpy() == 6
    assert tape.gradient(z, v) is None
    assert tape.gradient(w, v).numpy() == 3
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        tape.reset()
        z = v * 2.0
    assert tape.gradient(y, v) is None
    assert tape.gradient(z, v).numpy() == 2


def test_misuse_is_refused():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with pytest.raises(ValueError, match="still recording"):
            tape.__enter__()
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.jacobian(y, x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(AttributeError):
        tape.gradient(y, 3.0)


def test_gradient_inside_the_context():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        assert tape.gradient(y, x).numpy() == 6
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        dy = tape.gradient(y, x)
        d2y = tape.gradient(dy, x)
    assert (dy.numpy(), d2y.numpy()) == (27, 18)


def test_gather_gives_indexed_slices():
    table = tf.Variable(np.arange(12.0, dtype=np.float32).reshape(6, 2))
    with tf.GradientTape(persistent=True) as tape:
        rows = tf.gather(table, [4, 1, 4])
        y = tf.reduce_sum(rows * rows)
        mixed = y + tf.reduce_sum(table)
        through = tf.reduce_sum(tf.gather(table * 2.0, [0, 0]))
        twice = y + tf.reduce_sum(tf.gather(table, [0]))
    got = tape.gradient(y, table)
    assert isinstance(got, tf.IndexedSlices)
    assert got.indices.numpy().tolist() == [4, 1, 4]
    assert got.values.numpy().tolist() == [[16, 18], [4, 6], [16, 18]]
    assert got.dense_shape.numpy().tolist() == [6, 2]
    dense = tf.convert_to_tensor(got).numpy()
    assert dense[4].tolist() == [32, 36] and dense[0].tolist() == [0, 0]
    np.testing.assert_array_equal(tape.gradient(mixed, table).numpy(), dense + 1)
    assert tape.gradient(through, table).numpy()[0].tolist() == [4, 4]
    assert isinstance(tape.gradient(twice, table), tf.IndexedSlices)
    before = table.numpy()
    table.scatter_sub(got)
    np.testing.assert_array_equal(table.numpy(), before - dense)


def test_jacobian():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.stack([x * x, x[0] * x], 0)
    wanted = np.zeros((2, 3, 3))
    wanted[0] = np.diag([2, 4, 6])
    wanted[1] = np.diag([1, 1, 1])
    wanted[1, :, 0] += [1, 2, 3]
    np.testing.assert_allclose(tape.jacobian(y, x).numpy(), wanted)
    assert tape.jacobian(y, [x])[0].shape == (2, 3, 3)
    other = tf.constant([1.0])
    assert tape.jacobian(y, other) is None
    zero = tape.jacobian(y, other, unconnected_gradients="zero")
    assert zero.shape == (2, 3, 1)


def test_batch_jacobian():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x**2 * tf.constant([[1.0, 10.0]])
    got = tape.batch_jacobian(y, x).numpy()
    np.testing.assert_allclose(got, [np.diag([2, 40]), np.diag([6, 80])])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.ones([3, 2]) * x[0]
    with pytest.raises(ValueError, match="first dimension"):
        tape.batch_jacobian(y, x)


def test_error_inside_the_context_leaves_no_tape_behind():
    x = tf.constant(3.0)
    with pytest.raises(ZeroDivisionError), tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        raise ZeroDivisionError
    with pytest.raises(tf.errors.InvalidArgumentError), tf.GradientTape() as other:
        other.watch(x)
        tf.reshape(x, [2])
    z = x * x
    assert tape.gradient(y, x).numpy() == 6
    with tf.GradientTape() as last:
        pass
    assert last.gradient(z, x) is None


def test_each_thread_records_its_own():
    results = {}

    def work(i):
        v = tf.Variable(float(i))
        for _ in range(100):
            with tf.GradientTape() as tape:
                y = v * v
            results[i] = tape.gradient(y, v).numpy()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {i: 2.0 * i for i in range(4)}


def test_rows_picked_by_short_integers_get_their_gradient():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    rows, points = tf.constant([1, 0, 1], tf.int16), tf.constant([[1, 0]], tf.int16)
    with tf.GradientTape(persistent=True) as tape:
        picked, columns, one = (
            tf.gather(x, rows),
            tf.gather(x, rows, axis=1),
            tf.gather_nd(x, points),
        )
    assert tf.convert_to_tensor(tape.gradient(picked, x)).numpy().tolist() == [[1, 1], [2, 2]]
    assert tape.gradient(columns, x).numpy().tolist() == [[1, 2], [1, 2]]
    assert tape.gradient(one, x).numpy().tolist() == [[0, 0], [1, 0]]
