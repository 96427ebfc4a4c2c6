"""tf.Tensor as a Python object: operators, conversions, iteration, identity."""

import copy
import operator
import pickle
import subprocess
import sys

import numpy as np
import pytest
from arrays import NUMERIC, assert_close, sample

import tidemark as tf

BINARY = [operator.add, operator.sub, operator.mul]
COMPARE = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("dtype", NUMERIC)
@pytest.mark.parametrize("op", BINARY, ids=lambda f: f.__name__)
def test_arithmetic(op, dtype):
    a, b = sample(dtype, (3, 4), 1, low=1), sample(dtype, (4,), 2, low=0, high=2)
    assert_close(op(tf.constant(a), tf.constant(b)), op(a, b))
    assert_close(op(tf.constant(a), b), op(a, b))
    assert_close(op(tf.constant(a), 1), op(a, a.dtype.type(1)))
    assert_close(op(1, tf.constant(a)), op(a.dtype.type(1), a))


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "int64", "float64"])
@pytest.mark.parametrize("op", COMPARE, ids=lambda f: f.__name__)
def test_comparison(op, dtype):
    a, b = sample(dtype, (5, 3), 1), sample(dtype, (5, 3), 2)
    assert_close(op(tf.constant(a), tf.constant(b)), op(a, b))
    assert_close(op(tf.constant(a), 2), op(a, 2))


def test_division():
    five, two = tf.constant([5]), tf.constant([2])
    assert (five / two).dtype is tf.float64 and (five / two).numpy() == [2.5]
    assert (five // -two).numpy() == [-3] and (five % -3).numpy() == [-1]
    assert (tf.constant([5], tf.int8) / tf.constant([2], tf.int8)).dtype is tf.float32
    assert (five / tf.constant([0])).numpy() == [np.inf]
    assert (tf.constant([5.0]) // 2).numpy() == [2] and (tf.constant([-5.0]) % 3).numpy() == [1]
    assert (7 // two).numpy() == [3] and (7 % two).numpy() == [1] and (1 / two).numpy() == [0.5]
    for op in (operator.floordiv, operator.mod):
        with pytest.raises(tf.errors.InvalidArgumentError, match="[Dd]ivision by zero"):
            op(five, tf.constant([0]))


def test_an_operator_may_come_first_in_a_process():
    for expression in ("five / 2", "2 / five", "five // 2", "five ** 2", "-five", "five == 5"):
        code = f"import tidemark as tf; five = tf.constant(5); print(({expression}).numpy())"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, (expression, done.stderr)


def test_power():
    assert (tf.constant([5]) ** 2).numpy() == [25] and (2 ** tf.constant([3])).numpy() == [8]
    assert_close(tf.constant([2.0]) ** 0.5, np.float32([2.0**0.5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative integer powers"):
        tf.constant([2]) ** tf.constant([-1])


def test_bits_and_logic():
    t, f = tf.constant([True, True]), tf.constant([True, False])
    assert (t & f).numpy().tolist() == [True, False] and (t | f).numpy().tolist() == [True, True]
    assert (t ^ f).numpy().tolist() == [False, True] and (~f).numpy().tolist() == [False, True]
    assert (tf.constant([6]) & 3).numpy() == [2] and (tf.constant([6]) | 1).numpy() == [7]
    assert (tf.constant([6]) ^ 3).numpy() == [5] and (~tf.constant([1])).numpy() == [-2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1.0]) & tf.constant([1.0])


def test_unary():
    assert (-tf.constant([1, -2])).numpy().tolist() == [-1, 2]
    assert abs(tf.constant([-1.5])).numpy() == [1.5]
    assert round(tf.constant([1.5, 2.5, -1.2])).numpy().tolist() == [2, 2, -1]
    with pytest.raises(tf.errors.InvalidArgumentError):
        -tf.constant([True])


def test_equality_of_what_does_not_broadcast():
    a = tf.constant([1, 2])
    assert bool(a == tf.constant([1, 2, 3])) is False
    assert bool(a != tf.constant([1, 2, 3])) is True
    assert (a == [1, 2]).numpy().tolist() == [True, True]
    assert (a == None) is False or not np.any(a == None)  # noqa: E711


def test_promotion_of_mixed_types():
    assert (tf.constant([1.0]) + tf.range(3)).dtype is tf.float32
    assert (tf.constant([1], tf.int8) + tf.constant([1], tf.uint8)).dtype is tf.int16
    assert (tf.constant([1, 2]) + 1.5).dtype is tf.float32
    assert (tf.constant([1.0], tf.float16) + 1).dtype is tf.float16
    assert (tf.constant([1.0], tf.float64) + tf.constant([1.0])).dtype is tf.float64


def test_python_scalars_adapt():
    assert (tf.constant([5], tf.uint8) + 1).dtype is tf.uint8
    assert (tf.constant([2.0], tf.float64) * 0.1).numpy() == [0.2]
    assert (2.5 * tf.constant([2.0], tf.bfloat16)).dtype is tf.bfloat16


def test_numpy_on_the_left():
    left = np.array([1.0, 2.0], np.float32) + tf.constant([1.0, 2.0])
    assert isinstance(left, tf.Tensor) and left.numpy().tolist() == [2, 4]
    assert isinstance(np.float32(2) * tf.constant([1.0]), tf.Tensor)


@pytest.mark.parametrize("value", [None, object(), "a"])
def test_operands_that_are_no_numbers(value):
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        tf.constant([1, 2]) + value
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        value + tf.constant([1, 2])


def test_as_python_values():
    assert int(tf.constant(1.5)) == 1 and float(tf.constant(1)) == 1.0
    assert complex(tf.constant(1.0)) == 1 + 0j and [1, 2, 3][tf.constant(1)] == 2
    assert bool(tf.constant(0.0)) is False and bool(tf.constant([1])) is True
    assert bool(tf.constant("a")) is True and list(range(tf.constant(2))) == [0, 1]
    with pytest.raises(TypeError):
        int(tf.constant([1, 2]))
    with pytest.raises(ValueError, match="truth value of an array with more than one element"):
        bool(tf.constant([1, 2]))
    with pytest.raises((TypeError, AttributeError)):
        [1, 2, 3][tf.constant(1.0)]


def test_length_and_iteration():
    t = tf.constant([[1, 2], [3, 4], [5, 6]])
    assert len(t) == 3 and [row.numpy().tolist() for row in t] == [[1, 2], [3, 4], [5, 6]]
    a, b = tf.constant([1, 2])
    assert (a.numpy(), b.numpy()) == (1, 2)
    assert list(tf.zeros([0, 3])) == []
    with pytest.raises(TypeError, match="Scalar tensor has no `len\\(\\)`"):
        len(tf.constant(1))
    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        iter(tf.constant(1))


def test_shape_and_type():
    t = tf.zeros([2, 3], tf.int8)
    assert t.shape == (2, 3) and t.get_shape() == t.shape and t.ndim == 2
    assert isinstance(t.shape, tf.TensorShape) and t.dtype is tf.int8
    t.set_shape([2, None])
    with pytest.raises(ValueError) as caught:
        t.set_shape([3])
    expected = "Tensor's shape (2, 3) is not compatible with supplied shape (3,)."
    assert str(caught.value) == expected


def test_hashing_is_by_reference():
    a, b = tf.constant([1]), tf.constant([1])
    with pytest.raises(TypeError, match="Tensor is unhashable. Instead, use tensor.ref"):
        hash(a)
    assert a.ref() == a.ref() and a.ref() != b.ref() and len({a.ref(), a.ref(), b.ref()}) == 2
    assert a.ref().deref() is a and repr(a.ref()).startswith("<Reference wrapping <tf.Tensor:")


def test_only_in_graphs():
    t = tf.constant(1)
    for name in ("op", "graph", "name", "value_index"):
        assert not hasattr(t, name)
        with pytest.raises(AttributeError, match=f"Tensor.{name} is undefined when eager"):
            getattr(t, name)
    with pytest.raises(NotImplementedError, match="is .numpy\\(\\) what you're looking for"):
        t.eval()


def test_copies_and_pickle():
    t = tf.constant([[1.5, 2.5]])
    for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        np.testing.assert_array_equal(other.numpy(), t.numpy())
        assert other.dtype is t.dtype
    words = tf.constant(["a", "bc"])
    assert pickle.loads(pickle.dumps(words)).numpy().tolist() == [b"a", b"bc"]


def test_tensor_is_a_class():
    assert isinstance(tf.constant(1), tf.Tensor) and not isinstance(1, tf.Tensor)
    with pytest.raises(TypeError):
        tf.Tensor()
