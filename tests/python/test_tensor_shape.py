"""tf.TensorShape against what TensorFlow answers."""

import pickle

import numpy as np
import pytest

import tidemark as tf

S = tf.TensorShape


def test_printing():
    shapes = [S([1, None, 3]), S(None), S([]), S([2])]
    assert [repr(s) for s in shapes] == [
        "TensorShape([1, None, 3])", "TensorShape(None)", "TensorShape([])", "TensorShape([2])",
    ]  # fmt: skip
    assert [str(s) for s in shapes] == ["(1, None, 3)", "<unknown>", "()", "(2,)"]


@pytest.mark.parametrize("given", [5, [5], (5,), np.array([5]), np.int64(5), S([5])])
def test_from(given):
    assert S(given).as_list() == [5]


def test_from_tensor():
    assert S(tf.constant([1, 2])) == [1, 2]


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ([-2], ValueError, "Dimension -2 must be >= 0"),
        ((1, -1), ValueError, "Dimension -1 must be >= 0"),
        ([1.5], TypeError, "Dimension value must be integer or None or have an __index__ method"),
        (["a"], TypeError, "got value ''a'' with type"),
        ("ab", TypeError, "A shape should either be single dimension"),
    ],
)
def test_what_is_no_shape(given, error, text):
    with pytest.raises(error, match=text):
        S(given)


def test_reading():
    s = S([1, None, 3])
    assert (s.rank, s.ndims, len(s)) == (3, 3, 3) and s[1] is None and s[-1] == 3
    assert list(s) == [1, None, 3] and s[1:] == [None, 3] and not s.is_fully_defined()
    assert s.num_elements() is None and S([2, 3]).num_elements() == 6
    assert S([2**62, 8]).num_elements() == 2**65
    assert bool(S([])) and not S(None)
    with pytest.raises(IndexError):
        s[5]
    assert np.zeros(S([1, 2])).shape == (1, 2)


def test_unknown_rank():
    s = S(None)
    assert s.rank is None and s.dims is None and s.num_elements() is None
    assert s[0] is None and s[1:] == S(None) and s[1:3] == [None, None] and s[-2:] == S(None)
    with pytest.raises(ValueError, match="Cannot take the length of shape with unknown rank"):
        len(s)
    with pytest.raises(ValueError, match="Cannot iterate over a shape with unknown rank"):
        iter(s)
    with pytest.raises(ValueError, match="as_list\\(\\) is not defined on an unknown TensorShape"):
        s.as_list()


def test_comparing():
    assert S([1, 2]) == [1, 2] and S([1, 2]) == (1, 2) and S([1, None]) == [1, None]
    assert S(None) == None and S([1]) != [2] and S([1]) != "a"  # noqa: E711
    assert hash(S([1, 2])) == hash(S((1, 2)))


def test_joining_and_merging():
    assert S([1, 2]) + [3] == [1, 2, 3] and [3] + S([1, 2]) == [3, 1, 2]
    assert S([1]) + S(None) == S(None) and S([1]).concatenate([2]) == [1, 2]
    assert S([1, None]).merge_with([None, 2]) == [1, 2]
    assert S([1, None]).most_specific_compatible_shape([1, 2]) == [1, None]
    assert S([1]).most_specific_compatible_shape([1, 2]) == S(None)
    assert S([1, None]).is_compatible_with([1, 5]) and not S([1]).is_compatible_with([1, 5])
    assert S([1, None]).is_subtype_of(S(None)) and not S(None).is_subtype_of(S([1]))


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda s: s.merge_with([None, 2]), "Shapes (1, 3) and (None, 2) are not compatible"),
        (lambda s: s.merge_with([2]), "Shapes (1, 3) and (2,) are not compatible"),
        (lambda s: s.assert_is_compatible_with([2]), "Shapes (1, 3) and [2] are incompatible"),
        (lambda s: s.assert_has_rank(3), "Shape (1, 3) must have rank 3"),
        (lambda s: s.assert_same_rank([3]), "Shapes (1, 3) and (3,) must have the same rank"),
        (lambda s: s.with_rank(3), "Shape (1, 3) must have rank 3"),
        (lambda s: s.with_rank_at_least(3), "Shape (1, 3) must have rank at least 3"),
        (lambda s: s.with_rank_at_most(1), "Shape (1, 3) must have rank at most 1"),
        (lambda s: S([None]).assert_is_fully_defined(), "Shape (None,) is not fully defined"),
    ],
)
def test_assertions(ask, text):
    with pytest.raises(ValueError) as caught:
        ask(S([1, 3]))
    assert str(caught.value) == text


def test_dimensions():
    d = S([3, None]).dims
    assert repr(d) == "[Dimension(3), Dimension(None)]" and str(d[1]) == "?"
    assert (d[0] + 2).value == 5 and (2 * d[0]).value == 6 and (d[1] * 3).value is None
    assert d[0] == 3 and (d[1] == 3) is None and S([d[0]]) == [3]
    assert int(d[0]) == 3 and list(range(d[0])) == [0, 1, 2]


def test_broadcasting():
    assert tf.broadcast_static_shape(S([1, 2]), S([3, 1])) == [3, 2]
    assert tf.broadcast_static_shape(S([5]), S([3, 1])) == [3, 5]
    assert tf.broadcast_static_shape(S([None, 2]), S([3, 1])) == [3, 2]
    with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
        tf.broadcast_static_shape(S([1, 2]), S([3, 3]))
    assert tf.broadcast_dynamic_shape([1, 2], [3, 1]).numpy().tolist() == [3, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.broadcast_dynamic_shape([1, 2], [3, 3])


def test_pickle():
    assert pickle.loads(pickle.dumps(S([1, None]))) == [1, None]
    assert pickle.loads(pickle.dumps(S(None))) == S(None)
