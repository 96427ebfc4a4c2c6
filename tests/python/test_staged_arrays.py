"""Tensor arrays, maps and folds in graphs: they flow through conditions and loops."""

import gc

import numpy as np
import pytest
import this_device
from flat import assert_flat

import tidemark as tf


def _filled(n, dynamic):
    @tf.function
    def fill(x, n):
        array = tf.TensorArray(tf.float32, size=0 if dynamic else n, dynamic_size=dynamic)
        for i in tf.range(n):
            array = array.write(i, x * tf.cast(i, tf.float32))
        return array.stack()

    return fill


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_loop_fills_an_array(dynamic):
    fill = _filled(4, dynamic)
    x = tf.constant([1.0, 2.0])
    for n in (4, 1, 100):
        got = fill(x, tf.constant(n))
        np.testing.assert_array_equal(got, np.arange(n)[:, None] * [1.0, 2.0])


def test_an_array_that_nothing_was_written_to_has_no_rows():
    got = _filled(0, True)(tf.constant([1.0, 2.0]), tf.constant(0))
    assert got.shape == (0, 2)


def test_reading_and_writing_the_same_array():
    @tf.function
    def fibonacci(n):
        array = tf.TensorArray(tf.int32, size=n, element_shape=())
        array = array.write(0, 1).write(1, 1)
        for i in tf.range(2, n):
            array = array.write(i, array.read(i - 1) + array.read(i - 2))
        return array.stack(), array.size()

    rows, size = fibonacci(tf.constant(10))
    assert rows.numpy().tolist() == [1, 1, 2, 3, 5, 8, 13, 21, 34, 55]
    assert int(size) == 10


def test_writing_makes_another_array():
    @tf.function
    def both(x):
        first = tf.TensorArray(tf.float32, size=2, element_shape=()).unstack(x)
        second = first.write(0, 9.0)
        return first.stack(), second.stack()

    first, second = both(tf.constant([1.0, 2.0]))
    assert first.numpy().tolist() == [1.0, 2.0]
    assert second.numpy().tolist() == [9.0, 2.0]


def test_unstack_gather_scatter_concat_split_and_identity():
    @tf.function
    def all_of_them(x):
        array = tf.TensorArray(tf.float32, size=3).unstack(x)
        gathered = array.gather([2, 0])
        joined = array.identity().concat()
        spread = tf.TensorArray(tf.float32, size=4).scatter([3, 1], x[:2]).stack()
        grown = tf.TensorArray(tf.float32, size=0, dynamic_size=True).scatter([2], x[:1]).stack()
        cut = tf.TensorArray(tf.float32, size=3).split(x, [1, 1, 1]).stack()
        return gathered, joined, spread, grown, cut

    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    gathered, joined, spread, grown, cut = all_of_them(tf.constant(x))
    np.testing.assert_array_equal(gathered, x[[2, 0]])
    np.testing.assert_array_equal(joined, x.ravel())
    np.testing.assert_array_equal(spread, [[0, 0], x[1], [0, 0], x[0]])
    np.testing.assert_array_equal(grown, [[0, 0], [0, 0], x[0]])
    np.testing.assert_array_equal(cut, x[:, None])


def test_strings():
    @tf.function
    def words(n):
        array = tf.TensorArray(tf.string, size=0, dynamic_size=True)
        for i in tf.range(n):
            array = array.write(i, tf.strings.as_string(i) if hasattr(tf, "strings") else "word")
        return array.stack()

    assert len(words(tf.constant(3)).numpy()) == 3


def test_static_shapes_are_known():
    seen = []

    @tf.function
    def f(x):
        array = tf.TensorArray(tf.float32, size=5, element_shape=(2,))
        array = array.write(0, x)
        seen.append(array.read(0).shape)
        seen.append(array.stack().shape)
        for i in tf.range(5):
            array = array.write(i, x)
            seen.append(array.read(i).shape)
        seen.append(array.stack().shape)
        inferred = tf.TensorArray(tf.float32, size=3)
        for i in tf.range(3):
            inferred = inferred.write(i, x)
        seen.append(inferred.stack().shape)
        return array.stack()

    f(tf.constant([1.0, 2.0]))
    assert [tuple(shape) for shape in seen] == [(2,), (5, 2), (2,), (5, 2), (3, 2)]


def test_arrays_go_through_conditions_and_functions():
    @tf.function
    def written(array, x):
        return array.write(0, x)

    @tf.function
    def f(x, more):
        array = tf.TensorArray(tf.float32, size=2, element_shape=())
        array = tf.cond(more, lambda: array.write(1, x), lambda: array)
        return written(array, x + 1.0).stack()

    assert f(tf.constant(3.0), tf.constant(True)).numpy().tolist() == [4.0, 3.0]
    assert f(tf.constant(3.0), tf.constant(False)).numpy().tolist() == [4.0, 0.0]


def test_arrays_are_arguments_and_results():
    @tf.function
    def doubled(array):
        for i in tf.range(array.size()):
            array = array.write(i, array.read(i) * 2.0)
        return array

    array = tf.TensorArray(tf.float32, size=3, clear_after_read=False).unstack([1.0, 2.0, 3.0])
    result = doubled(array)
    assert isinstance(result, tf.TensorArray)
    assert result.stack().numpy().tolist() == [2.0, 4.0, 6.0]
    assert array.stack().numpy().tolist() == [1.0, 2.0, 3.0]


def test_spec():
    array = tf.TensorArray(tf.float32, size=2, element_shape=(3,))
    spec = tf.type_spec_from_value(array)
    assert spec == tf.TensorArraySpec((3,), tf.float32)
    assert spec.is_compatible_with(array)
    assert not tf.TensorArraySpec((4,), tf.float32).is_compatible_with(array)


@pytest.mark.parametrize("index", [-1, 3])
def test_places_outside_are_refused(index):
    @tf.function
    def write(i):
        return tf.TensorArray(tf.float32, size=3, element_shape=()).write(i, 1.0).stack()

    @tf.function
    def read(i):
        return tf.TensorArray(tf.float32, size=3, element_shape=()).read(i)

    with pytest.raises(tf.errors.InvalidArgumentError, match="3 elements"):
        write(tf.constant(index)).numpy()  # on a device the error comes with the wait
    with pytest.raises(tf.errors.InvalidArgumentError, match="3 elements"):
        read(tf.constant(index)).numpy()


def test_elements_of_another_type_are_refused():
    @tf.function
    def wrong_dtype():
        tf.TensorArray(tf.float32, size=3).write(0, tf.constant(1))

    @tf.function
    def wrong_shape():
        tf.TensorArray(tf.float32, size=3, element_shape=(2,)).write(0, tf.constant([1.0]))

    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype"):
        wrong_dtype()
    with pytest.raises(ValueError, match="shape"):
        wrong_shape()


def test_memory_of_a_known_number_of_rounds():
    """Result and two rounds, no more, and nothing left behind."""
    width = 2500  # 10 kB a round

    @tf.function
    def fill(x, n):
        array = tf.TensorArray(tf.float32, size=n, element_shape=(width,))
        for i in tf.range(n):
            array = array.write(i, x)
        return array.stack()

    x, n = tf.ones(width), tf.constant(1000)
    fill(x, tf.constant(2))
    gc.collect()
    before = this_device.stats().live
    this_device.reset_peak()
    y = fill(x, n)
    result = this_device.stats().live - before
    peak = this_device.stats().peak - before
    assert y.shape == (1000, width)
    assert peak <= result + 2 * 4 * width
    del y
    assert this_device.stats().live == before


def test_memory_of_an_array_that_grows():
    """A sixteenth more than the result at most, and one round's rows beside it."""
    width = 2500

    @tf.function
    def fill(x, n):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=(width,))
        i = 0
        while i < n:
            array = array.write(i, x)
            i += 1
        return array.stack()

    x = tf.ones(width)
    fill(x, tf.constant(2))
    gc.collect()
    before = tf.memory.stats().live
    tf.memory.reset_peak()
    y = fill(x, tf.constant(1000))
    peak = tf.memory.stats().peak - before
    needed = 1000 * width * 4
    assert y.shape == (1000, width)
    assert peak <= needed + needed // 8 + 2 * 4 * width
    np.testing.assert_array_equal(y[::99], np.ones((11, width)))


def test_lists_in_loops_cost_a_row_a_round():
    """As article 000 has it, also backwards: time in proportion to the rounds."""

    @tf.function
    def accumulate(x, count):
        results = []
        for i in tf.range(count):
            results.append(x + tf.cast(i, tf.float32))
        return tf.stack(results)

    x = tf.constant([1.0, 2.0])
    y = accumulate(x, tf.constant(2000))
    np.testing.assert_array_equal(y, np.arange(2000)[:, None] + [1.0, 2.0])
    live = tf.memory.stats().live
    for _ in range(20):
        accumulate(x, tf.constant(2000))
    assert tf.memory.stats().live <= live


def test_loops_stay_flat():
    @tf.function
    def step(x, n):
        rows = []
        for i in tf.range(n):
            x = x * 0.5 + tf.cast(i, tf.float32)
            rows.append(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.scan(lambda a, v: a * v, x)
        return tf.stack(rows), tape.gradient(y, x)

    x, n = tf.ones([40]), tf.constant(50)
    assert_flat(lambda: step(x, n), 2000)


def test_many_rounds_stay_flat():
    @tf.function
    def count(x, n):
        for _ in tf.range(n):
            x = tf.sin(x) + 1.0
        return x

    x = tf.ones([1000])
    assert_flat(lambda: count(x, tf.constant(2000)), 40)
