"""tf.debugging: what holds is silent, what does not raises as in TensorFlow."""

import numpy as np
import pytest

import tidemark as tf

D = tf.debugging


def test_what_holds():
    D.assert_equal([1, 2], [1, 2])
    D.assert_none_equal(1, 2)
    D.assert_less(1, 2)
    D.assert_less_equal([1, 2], 2)
    D.assert_greater(2, 1)
    D.assert_greater_equal(2, [1, 2])
    D.assert_near(1.0, 1.0 + 1e-7)
    D.assert_positive([1, 2])
    D.assert_negative(-1.0)
    D.assert_non_negative([0, 1])
    D.assert_non_positive(0)
    D.assert_rank(tf.zeros([2]), 1)
    D.assert_rank_at_least(tf.zeros([2]), 1)
    D.assert_rank_in(tf.zeros([2]), [0, 1])
    D.assert_scalar(1)
    D.assert_type(1.0, tf.float32)
    D.assert_integer(1)
    D.assert_shapes([(tf.zeros([2, 3]), ("N", 3)), (tf.zeros([2]), ("N",))])
    D.assert_shapes({tf.zeros([1]).ref().deref().shape.rank: ()})
    D.assert_proper_iterable([1])
    D.Assert(True, [1])
    assert D.check_numerics([1.0], "x").numpy() == [1]
    assert D.is_numeric_tensor(tf.constant(1)) and not D.is_numeric_tensor(tf.constant("a"))
    assert D.assert_same_float_dtype([tf.constant(1.0)]) is tf.float32
    assert tf.assert_equal is D.assert_equal


def test_texts():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        D.assert_equal(1, 2)
    assert str(caught.value) == (
        "Condition x == y did not hold.\nFirst 1 elements of x:\n[1]\nFirst 1 elements of y:\n[2]"
    )
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        D.assert_equal([1, 2], [1, 3], message="hi")
    assert str(caught.value) == (
        "hi\nCondition x == y did not hold.\nIndices of first 1 different values:\n[[1]]\n"
        "Corresponding x values:\n[2]\nCorresponding y values:\n[3]\n"
        "First 2 elements of x:\n[1 2]\nFirst 2 elements of y:\n[1 3]"
    )
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        D.assert_positive([-1, 2])
    assert str(caught.value) == (
        "\nCondition x > 0 did not hold element-wise:\nx (shape=(2,) dtype=int32) = \n['-1', '2']"
    )
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.Assert(False, ["x", 1])
    assert str(caught.value) == "Expected 'False' to be true. Summarized data: b'x'\n1"


@pytest.mark.parametrize(
    ("ask", "error", "text"),
    [
        (lambda: D.assert_rank(tf.zeros([2]), 2), ValueError,
         r"Tensor  must have rank 2.  Received rank 1, shape \(2,\)"),
        (lambda: D.assert_shapes([(tf.zeros([2, 3]), ("N", "N"))]), ValueError,
         "dimension 1 must have size 2.  Received size 3"),
        (lambda: D.assert_shapes([(tf.zeros([2]), ("N", "N"))]), ValueError, "must have rank 2"),
        (lambda: D.assert_type(1.0, tf.int32), TypeError,
         "tensor must be of type tf.int32; got tf.float32"),
        (lambda: D.assert_integer(1.0), TypeError, "Expected 'x' to be integer type"),
        (lambda: D.check_numerics([1.0, np.nan], "hello"), tf.errors.InvalidArgumentError,
         "hello : Tensor had NaN values"),
        (lambda: D.assert_all_finite([np.inf], "hello"), tf.errors.InvalidArgumentError,
         "hello : Tensor had Inf values"),
        (lambda: D.assert_near(1.0, 2.0), tf.errors.InvalidArgumentError,
         "x and y not equal to tolerance"),
        (lambda: D.assert_scalar([1]), ValueError, "Expected scalar shape, saw shape"),
        (lambda: D.assert_rank_in(1, [1, 2]), ValueError, "must have rank in"),
        (lambda: D.assert_proper_iterable("abc"), TypeError, "iterable of tensors"),
        (lambda: D.assert_less(2, 1), tf.errors.InvalidArgumentError, "x < y"),
        (lambda: D.assert_none_equal(1, 1), tf.errors.InvalidArgumentError, "x != y"),
        (lambda: D.assert_same_float_dtype([tf.constant(1)]), ValueError, "floating point"),
    ],
)  # fmt: skip
def test_what_does_not_hold(ask, error, text):
    with pytest.raises(error, match=text):
        ask()
