"""Conditions, loops, functions over elements and tensor arrays."""

import numpy as np
import pytest

import tidemark as tf


def test_cond():
    x = tf.constant(3.0)
    assert tf.cond(x > 2, lambda: x + 1, lambda: x - 1).numpy() == 4
    assert tf.cond(False, lambda: (1, [2]), lambda: (3, [4])) == (3, [4])
    with pytest.raises(TypeError, match="'true_fn' must be callable"):
        tf.cond(True, 1, lambda: 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        tf.cond([True, False], lambda: 1, lambda: 2)


def test_case():
    yes, no = tf.constant(True), tf.constant(False)
    assert tf.case([(no, lambda: 1), (yes, lambda: 2), (yes, lambda: 3)]) == 2
    assert tf.case([(no, lambda: 1)], default=lambda: 9) == 9
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than one"):
        tf.case([(yes, lambda: 1), (yes, lambda: 2)], exclusive=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of the conditions"):
        tf.case([(no, lambda: 1)])


def test_switch_case():
    branches = [lambda: "a", lambda: "b", lambda: "c"]
    assert tf.switch_case(tf.constant(1), branches) == "b"
    assert tf.switch_case(7, branches) == "c"
    assert tf.switch_case(7, branches, default=lambda: "d") == "d"
    assert tf.switch_case(5, {5: lambda: "x", 2: lambda: "y"}) == "x"
    assert tf.switch_case(-1, [(5, lambda: "x"), (2, lambda: "y")]) == "x"
    with pytest.raises(ValueError, match="empty"):
        tf.switch_case(0, [])


def test_while_loop():
    i, total = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), (0, tf.constant(0)))
    assert (int(i), int(total)) == (5, 10)
    (n,) = tf.while_loop(lambda i: True, lambda i: [i + 1], [0], maximum_iterations=3)
    assert int(n) == 3
    assert int(tf.while_loop(lambda i: i < 4, lambda i: i + 1, tf.constant(0))) == 4
    state = tf.while_loop(lambda s: s["i"] < 2, lambda s: ({"i": s["i"] + 1},), ({"i": 0},))
    assert int(state[0]["i"]) == 2
    with pytest.raises(ValueError, match="as many values"):
        tf.while_loop(lambda i: True, lambda i: (i, i), (0,))


def test_map_fn():
    x = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(tf.map_fn(lambda r: r * 2, x).numpy(), x * 2)
    lengths = tf.map_fn(tf.reduce_sum, x)
    np.testing.assert_array_equal(lengths.numpy(), x.sum(1))
    a, b = tf.map_fn(lambda p: (p[0] + p[1], p[0]), (x, x))
    np.testing.assert_array_equal(a.numpy(), 2 * x)
    assert b.shape == (3, 2)
    flags = tf.map_fn(lambda r: r[0] > 1, x, fn_output_signature=tf.bool)
    assert flags.numpy().tolist() == [False, True, True]
    with pytest.raises(tf.errors.InvalidArgumentError, match="fn_output_signature"):
        tf.map_fn(lambda r: r[0] > 1, x)
    with pytest.raises(ValueError, match="first axis"):
        tf.map_fn(lambda r: r, 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="differ"):
        tf.map_fn(lambda p: p[0], (x, x[:2]), fn_output_signature=tf.float64)
    assert tf.map_fn(lambda r: r, np.zeros((0, 2))).shape == (0, 2)
    assert tf.map_fn(lambda r: r, np.zeros((0, 2)), fn_output_signature=tf.int32).dtype == tf.int32


def test_vectorized_map():
    x = np.arange(6.0).reshape(3, 2)
    got = tf.vectorized_map(lambda p: p[0] @ tf.transpose(p[1]), (x[:, None], x[:1, None]))
    np.testing.assert_array_equal(got.numpy()[:, 0, 0], x @ x[0])
    with pytest.raises(ValueError, match="differ"):
        tf.vectorized_map(lambda p: p[0], (x, x[:2]))


def test_folds_and_scans():
    x = tf.constant([1, 2, 3, 4])
    assert int(tf.foldl(lambda a, v: a * 10 + v, x)) == 1234
    assert int(tf.foldr(lambda a, v: a * 10 + v, x)) == 4321
    assert int(tf.foldl(lambda a, v: a * 10 + v, x, initializer=9)) == 91234
    assert tf.scan(lambda a, v: a + v, x).numpy().tolist() == [1, 3, 6, 10]
    assert tf.scan(lambda a, v: a + v, x, initializer=10).numpy().tolist() == [11, 13, 16, 20]
    assert tf.scan(lambda a, v: a + v, x, reverse=True).numpy().tolist() == [10, 9, 7, 4]
    a, b = tf.scan(lambda s, v: (s[1], s[0] + s[1]), tf.zeros([5]), initializer=(0, 1))
    assert b.numpy().tolist() == [1, 2, 3, 5, 8]
    assert a.numpy().tolist() == [1, 1, 2, 3, 5]
    empty = tf.zeros([0])
    for function in (tf.foldl, tf.foldr, tf.scan):
        with pytest.raises(tf.errors.InvalidArgumentError):
            function(lambda a, v: a, empty)
    assert float(tf.foldl(lambda a, v: a, empty, initializer=2.0)) == 2


def test_python_functions():
    got = tf.py_function(lambda a, b: a + b, [1.0, 2.0], tf.float32)
    assert got.numpy() == 3
    one, two = tf.numpy_function(lambda a: (a, a.sum()), [np.ones(3)], [tf.float64, tf.float64])
    assert one.shape == (3,) and two.numpy() == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="Tout names 2"):
        tf.numpy_function(lambda a: a, [1.0], [tf.float32, tf.float32])


def test_tensor_array():
    array = tf.TensorArray(tf.float32, size=3)
    for i in range(3):
        array = array.write(i, [float(i), 1.0])
    assert int(array.size()) == 3
    assert array.read(1).numpy().tolist() == [1, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
        array.read(1)
    kept = tf.TensorArray(tf.int32, size=0, dynamic_size=True, clear_after_read=False)
    kept = kept.unstack([[1, 2], [3, 4]]).write(3, [7, 8])
    assert kept.stack().numpy().tolist() == [[1, 2], [3, 4], [0, 0], [7, 8]]
    assert kept.gather([3, 0]).numpy().tolist() == [[7, 8], [1, 2]]
    assert kept.concat().numpy().tolist() == [1, 2, 3, 4, 0, 0, 7, 8]
    kept.scatter([1, 0], [[5, 5], [6, 6]])
    assert kept.read(0).numpy().tolist() == [6, 6]
    pieces = tf.TensorArray(tf.int32, 2, infer_shape=False).split([1, 2, 3], [1, 2])
    assert pieces.read(1).numpy().tolist() == [2, 3]


def test_tensor_array_errors():
    array = tf.TensorArray(tf.float32, size=1)
    with pytest.raises(tf.errors.OutOfRangeError, match="not resizeable"):
        array.write(1, 1.0)
    with pytest.raises(tf.errors.OutOfRangeError, match="negative"):
        array.write(-1, 1.0)
    with pytest.raises(tf.errors.OutOfRangeError, match="array size"):
        array.read(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="before it was written"):
        array.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype"):
        array.write(0, tf.constant(1))
    array.write(0, [1.0, 2.0])
    with pytest.raises(ValueError, match="Incompatible shape"):
        array.write(0, [1.0])


def test_tensor_array_releases_what_was_read():
    array = tf.TensorArray(tf.float32, size=4)
    before = tf.memory.stats().live
    for i in range(4):
        array = array.write(i, tf.ones([1000, 100]))
    for i in range(4):
        array.read(i)
    assert tf.memory.stats().live == before
