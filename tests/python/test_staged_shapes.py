"""What is said about shapes, checked and left open while a function is traced."""

import numpy as np
import pytest

import tidemark as tf


def test_set_shape_narrows_what_is_known_in_a_graph():
    seen = []

    @tf.function
    def f():
        (x,) = tf.py_function(lambda: tf.ones([3, 4]), [], [tf.float32])
        seen.append(x.shape.rank)
        x.set_shape([None, 4])
        seen.append(x.shape.as_list())
        seen.append(tf.reshape(x, [-1, 2]).shape.as_list())
        return tf.reshape(x, [tf.shape(x)[0], 2, 2])

    assert f().shape == (3, 2, 2)
    assert seen == [None, [None, 4], [None, 2]]


def test_set_shape_refuses_what_contradicts():
    @tf.function
    def f(x):
        x.set_shape([5])
        return x

    with pytest.raises(ValueError, match="not compatible"):
        f(tf.ones([4]))


def test_a_function_takes_tensors_of_any_rank():
    f = tf.function(lambda x: tf.size(x), input_signature=[tf.TensorSpec(None)])
    assert f(tf.ones([2, 3])) == 6 and f(tf.ones([])) == 1


def test_checks_in_a_function_are_made_in_each_run():
    @tf.function
    def f(x, y):
        tf.debugging.assert_greater(x, 0.0, message="must be positive")
        tf.debugging.Assert(tf.reduce_all(x < 10.0), [x])
        tf.debugging.assert_equal(x, y)
        return x + y

    assert f(tf.constant(1.0), tf.constant(1.0)) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        f(tf.constant(-1.0), tf.constant(-1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected"):
        f(tf.constant(11.0), tf.constant(11.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold"):
        f(tf.constant(1.0), tf.constant(2.0))


def test_the_branch_taken_when_true_is_traced_first():
    order = []

    @tf.function
    def f(x):
        def branch(name):
            order.append(name)
            return x

        return tf.cond(x > 0, lambda: branch("true"), lambda: branch("false"))

    f(tf.constant(1.0))
    assert order == ["true", "false"]


def test_an_optional_of_unknown_type_becomes_what_a_loop_makes_of_it():
    @tf.function
    def last(n):
        def body(i, _):
            return i + 1, tf.experimental.Optional.from_value({"i": tf.cast(i, tf.float32)})

        start = (tf.constant(0), tf.experimental.Optional.empty(None))
        return tf.while_loop(lambda i, _: i < n, body, start)[1]

    assert last(tf.constant(4)).get_value()["i"] == 3.0
    assert not last(tf.constant(0)).has_value()


@pytest.mark.parametrize("axes", [1, 2, [[0], [1]], [[1, 2], [0, 1]], [[2, 0], [1, 0]]])
def test_tensordot_of_unknown_sizes(axes):
    a = np.random.default_rng(0).normal(size=(3, 3, 3)).astype("float32")
    unknown = tf.TensorSpec([None, None, 3])
    f = tf.function(lambda x, y: tf.tensordot(x, y, axes), input_signature=[unknown, unknown])
    np.testing.assert_allclose(f(a, a), np.tensordot(a, a, axes), rtol=1e-5, atol=1e-5)


def test_transposed_convolution_of_an_unknown_batch():
    x, w = tf.random.normal([2, 5, 5, 3]), tf.random.normal([3, 3, 4, 3])

    def f(x):
        return tf.nn.conv2d_transpose(x, w, [tf.shape(x)[0], 10, 10, 4], 2)

    staged = tf.function(f, input_signature=[tf.TensorSpec([None, 5, 5, 3])])
    np.testing.assert_allclose(staged(x), f(x), rtol=1e-4, atol=1e-4)


def test_bincount_in_a_function():
    numbers = tf.constant([1, 2, 2, 5])
    for arguments in ({}, {"minlength": 8}, {"maxlength": 3}, {"minlength": 3, "maxlength": 3}):
        f = tf.function(lambda x, given=arguments: tf.math.bincount(x, **given))
        np.testing.assert_array_equal(f(numbers), tf.math.bincount(numbers, **arguments))


def test_a_table_is_filled_by_its_initializer():
    class Nothing(tf.lookup.KeyValueTensorInitializer):
        def __init__(self):
            self.key_dtype, self.value_dtype = tf.int64, tf.int64

        def initialize(self, table):
            pass

    table = tf.lookup.StaticHashTable(Nothing(), -1)
    assert table.size() == 0 and table.lookup(tf.constant(3, tf.int64)) == -1


def test_a_padding_by_reflection_leaves_late_sizes_unknown():
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def frames(x):
        padded = tf.pad(x, [(0, 0), (1024, 1024)], mode="REFLECT")
        assert padded.shape.as_list() == [None, None]
        return tf.signal.frame(padded, 2048, 128)

    assert frames(tf.zeros([2, 16000])).shape == (2, 126, 2048)
    assert frames.get_concrete_function().structured_outputs.shape.as_list() == [None, None, 2048]


def test_depthwise_filters_of_late_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 3]), tf.TensorSpec([None] * 4)])
    def blur(x, kernel):
        y = tf.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "SAME")
        assert y.shape.as_list()[:3] == [None, 8, 8]
        return y

    x, kernel = tf.random.normal([2, 8, 8, 3]), tf.random.normal([3, 3, 3, 2])
    expected = tf.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "SAME")
    np.testing.assert_allclose(blur(x, kernel), expected, rtol=1e-5, atol=1e-5)


def test_sizes_computed_as_floats_between_whole_numbers():
    side = tf.sqrt(tf.constant(9.0))
    assert tf.reshape(tf.range(9), (side, side, 1)).shape == (3, 3, 1)
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        tf.reshape(tf.range(9), (side, 3.0))


@pytest.mark.parametrize(
    "op, others, shape",
    [
        (lambda x, y: x @ y, [5, 5], [None, 5]),
        (lambda x, y: y @ x, [5, 5], [5, None]),
        (lambda x, y: tf.concat([x, y], 0), [5, 5], [None, 5]),
        (lambda x, y: tf.concat([x, y], 1), [3, 5], [3, None]),
        (lambda x, y: x + y, [5, 5], [5, 5]),
        (lambda x, y: x + y, [5, 1], [5, None]),
        (lambda x, y: tf.einsum("ij,kj->ik", x, y), [4, 4], [None, 4]),
    ],
)
def test_sizes_that_nobody_knows_stay_unknown_beside_known_ones(op, others, shape):
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec(others)])
    def f(x, y):
        made = op(x, y)
        seen.append(made.shape.as_list())
        return made

    f.get_concrete_function()
    assert seen == [shape]
