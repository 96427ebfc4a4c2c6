"""tf.function: tracing, the cache of traces, gradients, control flow."""

import gc
import weakref

import numpy as np
import pytest

import tidemark as tf

pytestmark = pytest.mark.unwatched


def test_traces_once_for_a_signature():
    made = []

    @tf.function
    def double(x):
        made.append(1)
        return x + x

    for _ in range(3):
        assert double(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert len(made) == 1 and double.experimental_get_tracing_count() == 1


def test_a_size_seen_twice_becomes_unknown():
    shapes = []

    @tf.function
    def total(x):
        shapes.append(x.shape.as_list())
        return tf.reduce_sum(x)

    for n in range(1, 30):
        assert total(tf.ones([n])).numpy() == n
    assert shapes == [[1], [None]]
    assert len(total.traces()) == 1
    assert "float32[1] -> float32[2]" in total.traces()[0].reason


def test_a_number_seen_twice_becomes_an_input():
    @tf.function
    def scaled(x, rate):
        return x * rate

    x = tf.constant([1.0, 2.0], tf.float64)
    for i in range(50):
        rate = 0.1 + i
        out = scaled(x, rate)
        assert out.dtype == tf.float64
        np.testing.assert_array_equal(out.numpy(), x.numpy() * rate)  # exact: no float32 between
    assert len(scaled.traces()) == 1


def test_code_that_needs_the_number_is_traced_for_it():
    @tf.function
    def power(x, n):
        for _ in range(n):
            x = x * 2.0
        return x

    assert [power(1.0, n).numpy() for n in (1, 2, 3, 2)] == [2.0, 4.0, 8.0, 4.0]
    assert len(power.traces()) == 3


def test_structures_in_and_out():
    @tf.function
    def swap(pair, *, more):
        return {"b": pair[0], "a": (pair[1], more["x"] + 1, None)}

    out = swap((tf.constant(1), [tf.constant(2)]), more={"x": tf.constant(3)})
    assert out["b"].numpy() == 1 and out["a"][0][0].numpy() == 2
    assert out["a"][1].numpy() == 4 and out["a"][2] is None


def test_variables_are_read_and_written_in_order():
    v = tf.Variable(1.0)

    @tf.function
    def step(x):
        before = v + 0.0
        v.assign_add(x)
        after = v.read_value()
        v.assign(after * 2.0)
        return before, after

    before, after = step(3.0)
    assert (before.numpy(), after.numpy(), v.numpy()) == (1.0, 4.0, 8.0)


def test_variables_are_made_on_the_first_call_only():
    class Layer:
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.ones([3]) * 2.0)
            return x * self.w

    layer = Layer()
    assert layer(tf.ones([3])).numpy().tolist() == [2.0] * 3

    @tf.function
    def always(x):
        return tf.Variable(1.0) + x

    with pytest.raises(ValueError, match="singleton"):
        always(tf.constant(1.0))


def test_gradients_inside_and_around():
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def loss(x):
        return tf.reduce_sum(w * w * x)

    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            value = loss(x)
        return tape.gradient(value, w)

    x = tf.constant([3.0, 4.0])
    assert gradient(x).numpy().tolist() == [6.0, 16.0]
    with tf.GradientTape() as tape:
        value = loss(x)
    assert tape.gradient(value, w).numpy().tolist() == [6.0, 16.0]


@pytest.mark.parametrize("sizes", [(3, 3), (3, 5)])
def test_gradients_with_unknown_sizes(sizes):
    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = tf.reduce_mean(tf.square(x) * tf.reduce_max(x))
        return tape.gradient(value, x)

    for n in sizes:
        x = tf.range(1.0, n + 1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = tf.reduce_mean(tf.square(x) * tf.reduce_max(x))
        np.testing.assert_allclose(gradient(x), tape.gradient(value, x), rtol=1e-6)


def test_custom_gradients_inside():
    @tf.custom_gradient
    def clipped(x):
        return x * x, lambda dy: tf.clip_by_value(dy * 2.0 * x, -1.0, 1.0)

    @tf.function
    def f(x):
        return clipped(x) * 3.0

    x = tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy() == 75.0 and tape.gradient(y, x).numpy() == 1.0


def test_staged_statements():
    @tf.function
    def collatz(n):
        steps = 0
        while n != 1:
            if n % 2 == 0:  # noqa: SIM108
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    assert [int(collatz(tf.constant(n))) for n in (1, 7, 27)] == [0, 16, 111]
    assert len(collatz.traces()) == 1


def test_gradients_through_a_staged_loop():
    w = tf.Variable(2.0)

    @tf.function
    def gradient(x, n):
        with tf.GradientTape() as tape:
            y = x
            for _ in tf.range(n):
                y = y * w
        return tape.gradient(y, w)

    assert gradient(tf.constant(3.0), tf.constant(4)).numpy() == 3.0 * 4 * 8


def test_nothing_outlives_the_function():
    big = tf.ones([1000])

    class Model:
        def __init__(self):
            self.v = tf.Variable(tf.ones([10]))

        @tf.function
        def call(self, x):
            return x * self.v + tf.reduce_sum(big)

    model = Model()
    model.call(tf.ones([10]))
    refs = [weakref.ref(model), weakref.ref(model.v), weakref.ref(model.call)]
    gc.disable()
    try:
        del model
        assert [ref() for ref in refs] == [None] * 3
    finally:
        gc.enable()


def test_changed_python_state_is_reported_once(caplog):
    state = {"counter": 0}

    @tf.function
    def f(x):
        return x + state["counter"]

    f(tf.constant(1.0))
    state["counter"] = 5
    for _ in range(4):
        assert f(tf.constant(1.0)).numpy() == 1.0
    found = [r.getMessage() for r in caplog.records if 'state["counter"]' in r.getMessage()]
    assert len(found) == 1 and "test_function.py" in found[0]


def test_retracing_is_reported(caplog):
    @tf.function
    def f(x, name):
        return x

    for name in "abcdefg":
        f(tf.constant(1.0), name)
    found = [r.getMessage() for r in caplog.records if "traces of f" in r.getMessage()]
    assert len(found) == 1 and "name: 'd' -> 'e'" in found[0]


def test_concrete_functions():
    @tf.function
    def f(x, y=2.0):
        return x * y

    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    assert concrete(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert concrete.structured_outputs.shape.as_list() == [None]
    with pytest.raises(tf.errors.InvalidArgumentError):
        concrete(tf.constant([[1.0]]))


def test_tensors_of_a_trace_cannot_leak_into_another():
    kept = []

    @tf.function
    def keeps(x):
        kept.append(x + 1)
        return x

    keeps(tf.constant(1.0))
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
        kept[0] + 1

    @tf.function
    def uses(x):
        return x + kept[0]

    with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
        uses(tf.constant(1.0))


def test_an_input_signature_of_composites_is_traced_once():
    traced = []

    @tf.function(
        input_signature=[
            tf.RaggedTensorSpec([None, None], tf.float32),
            tf.SparseTensorSpec([None, 3], tf.float32),
            tf.TensorSpec([None], tf.float32),
        ]
    )
    def total(ragged, sparse, x):
        traced.append(x.shape)
        return tf.reduce_sum(ragged) + tf.sparse.reduce_sum(sparse) + tf.reduce_sum(x)

    for n in range(1, 4):
        ragged = tf.ragged.constant([[1.0], [2.0] * n, [3.0]])
        sparse = tf.sparse.from_dense([[float(n), 0.0, 0.0]] * n)
        assert total(ragged, sparse, tf.ones([n])).numpy() == 4.0 + 2.0 * n + n * n + n
    assert [shape.as_list() for shape in traced] == [[None]]
