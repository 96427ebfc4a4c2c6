"""Tensor arrays in graphs whose elements differ in shape."""

import numpy as np
import pytest

import tidemark as tf


def loose(size, **options):
    return tf.TensorArray(tf.float32, size=size, infer_shape=False, **options)


def test_written_in_a_loop_and_read():
    @tf.function
    def f(n):
        array = loose(n)
        for i in tf.range(n):
            array = array.write(i, tf.fill([i + 1, 2], tf.cast(i, tf.float32)))
        return array.read(0), array.read(n - 1), array.concat(), array.size()

    first, last, joined, size = f(tf.constant(3))
    assert first.shape == (1, 2) and last.shape == (3, 2) and size.numpy() == 3
    np.testing.assert_array_equal(joined[:, 0], [0, 1, 1, 2, 2, 2])


def test_read_in_another_loop_while_it_grows():
    @tf.function
    def f():
        array = loose(0, dynamic_size=True)
        for i in tf.range(4):
            array = array.write(i, tf.ones([i]))
        total = tf.constant(0.0)
        for i in tf.range(array.size()):
            total += tf.reduce_sum(array.read(i)) * tf.cast(i, tf.float32)
        return total

    assert f().numpy() == 0 + 1 + 4 + 9


def test_elements_of_different_ranks_and_order():
    @tf.function
    def f():
        array = loose(3)
        array = array.write(2, tf.constant(7.0))
        array = array.write(0, tf.ones([2, 2]))
        array = array.write(1, tf.zeros([3]))
        array = array.write(0, tf.fill([1], 5.0))  # written over
        return array.read(0), array.read(1), array.read(2)

    assert [x.numpy().tolist() for x in f()] == [[5.0], [0.0, 0.0, 0.0], 7.0]


def test_split_unstack_scatter_gather_and_stack():
    @tf.function
    def f(value, lengths):
        pieces = loose(2).split(value, lengths)
        rows = loose(3, dynamic_size=True).unstack(tf.reshape(value[:4], [2, 2]))
        rows = rows.scatter([3, 2], tf.constant([[8.0, 8.0], [9.0, 9.0]]))
        return pieces.read(1), pieces.concat(), rows.stack(), rows.gather([3, 0])

    piece, joined, stacked, some = f(tf.range(5.0), tf.constant([2, 3]))
    assert piece.numpy().tolist() == [2.0, 3.0, 4.0]
    assert joined.numpy().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert stacked.numpy().tolist() == [[0.0, 1.0], [2.0, 3.0], [9.0, 9.0], [8.0, 8.0]]
    assert some.numpy().tolist() == [[8.0, 8.0], [0.0, 1.0]]


def test_gradients_flow_through():
    @tf.function
    def f(x):
        array = loose(2)
        array = array.write(0, x * 2.0).write(1, tf.concat([x, x], 0) * 3.0)
        return tf.reduce_sum(array.read(0)) + tf.reduce_sum(array.concat())

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy() == 30.0
    assert tape.gradient(y, x).numpy().tolist() == [10.0, 10.0]


def test_texts_conditions_and_arrays_given_to_functions():
    @tf.function
    def f(flag, array):
        if flag:  # noqa: SIM108
            array = array.write(0, ["a", "b"])
        else:
            array = array.write(0, ["c"])
        return array

    given = tf.TensorArray(tf.string, size=2, infer_shape=False).write(1, [["d"]])
    made = f(tf.constant(True), given)
    assert made.read(0).numpy().tolist() == [b"a", b"b"]
    assert made.read(1).numpy().tolist() == [[b"d"]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda a: a.write(0, tf.ones([1])).write(1, tf.ones([2])).stack(), "differ in shape"),
        (lambda a: a.write(0, tf.ones([1])).stack(), "not all of its elements were written"),
        (lambda a: a.write(0, tf.ones([1])).read(1), "before it was written"),
        (lambda a: a.write(0, tf.ones([1])).write(1, 2.0).concat(), "have a first axis"),
        (lambda a: a.split(tf.range(4.0), [1, 2]), "must add up"),
    ],
)
def test_errors_say_what_is_wrong(make, message):
    def run():
        result = make(loose(2))
        return result if isinstance(result, tf.Tensor) else result.size()

    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.function(run)()


def test_inferred_shapes_are_kept():
    @tf.function
    def f():
        return tf.TensorArray(tf.float32, 2).write(0, tf.ones([1])).write(1, tf.ones([2])).stack()

    with pytest.raises(ValueError, match=r"saw \(2,\) but expected \(1,\).*infer_shape=False"):
        f()
