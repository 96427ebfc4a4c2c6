"""tensor[...] against NumPy's indexing, and errors worded as TensorFlow's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemark as tf

A = np.arange(24).reshape(2, 3, 4).astype(np.int32)
T = tf.constant(A)


@st.composite
def shape_and_key(draw):
    shape = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    key, used = [], 0
    ellipsis_used = False
    for _ in range(draw(st.integers(0, len(shape) + 2))):
        kinds = ["new"]
        if not ellipsis_used:
            kinds.append("dots")
        if used < len(shape):
            kinds += ["slice", "slice"]
            size = shape[used]
            if size and not ellipsis_used:
                kinds.append("int")
        kind = draw(st.sampled_from(kinds))
        if kind == "new":
            key.append(None)
        elif kind == "dots":
            key.append(Ellipsis)
            ellipsis_used = True
        elif kind == "int":
            key.append(draw(st.integers(-shape[used], shape[used] - 1)))
            used += 1
        else:
            bound = st.none() | st.integers(-6, 6)
            step = draw(st.none() | st.integers(-3, 3).filter(bool))
            key.append(slice(draw(bound), draw(bound), step))
            used += 1
    return shape, tuple(key)


@given(shape_and_key())
@settings(max_examples=400, deadline=None)
def test_basic_indexing_is_numpys(case):
    shape, key = case
    array = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    expected = array[key]
    ours = tf.constant(array)[key]
    assert ours.shape == expected.shape
    np.testing.assert_array_equal(ours.numpy(), expected)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.randoms())
@settings(max_examples=60, deadline=None)
def test_masks_are_numpys(shape, random):
    array = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    covered = random.randint(1, len(shape))
    mask = np.array([random.random() < 0.5 for _ in range(int(np.prod(shape[:covered])))])
    mask = mask.reshape(shape[:covered])
    for given_mask in (mask, tf.constant(mask)):
        np.testing.assert_array_equal(tf.constant(array)[given_mask].numpy(), array[mask])


@pytest.mark.parametrize(
    "key",
    [
        (0, 0),
        (-1, -1, -1),
        (slice(0, 10), slice(5, None)),
        (0, slice(None), slice(1, 2), None),
        (slice(None, None, -1),),
        (),
        np.int64(1),
        np.array(1),
        slice(np.int32(0), np.int64(1)),
        (slice(None), [0, 2]),
        (slice(None), np.array([2, -1, 0])),
        (Ellipsis, np.array([[0, 1], [1, 0]])),
        np.array([1, 0, 0]),
        (slice(None), np.array([True, False, True])),
        (Ellipsis, np.array([True, False, True, True])),
        (0, np.array([True, False, True])),
    ],
    ids=str,
)
def test_keys(key):
    np.testing.assert_array_equal(T[key].numpy(), A[key])


def test_tensors_as_indices():
    np.testing.assert_array_equal(T[tf.constant(1)].numpy(), A[1])
    np.testing.assert_array_equal(T[tf.constant(0) : tf.constant(1)].numpy(), A[0:1])
    np.testing.assert_array_equal(T[tf.constant([1, 0])].numpy(), A[[1, 0]])
    np.testing.assert_array_equal(T[T > 5].numpy(), A[A > 5])
    assert T[[0, 1]].shape == (4,)  # TensorFlow reads a list as if it were a tuple


def test_rows_share_memory():
    x = tf.ones([1000, 1000])
    live = tf.memory.stats().live
    row = x[5]
    assert tf.memory.stats().live == live and row.shape == (1000,)


NOT_AN_INDEX = "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "


@pytest.mark.parametrize("key", [1.5, "a", {}, tf.constant(1.5), slice("a", None), slice(1.5, None),
                                 (0, 2.0), np.array([1.5])], ids=str)  # fmt: skip
def test_what_is_no_index(key):
    with pytest.raises(TypeError) as caught:
        T[key]
    assert str(caught.value).startswith(NOT_AN_INDEX + "tf.int32/tf.int64 tensors are valid")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (2, "slice index 2 of dimension 0 out of bounds"),
        (-3, "of dimension 0 out of bounds"),
        ((0, 0, 0, 0), "has only 3 dims"),
        ((Ellipsis, Ellipsis), "Multiple ellipses in slice spec not allowed"),
        (slice(None, None, 0), r"strides\[0\] must be non-zero"),
        (2**40, "out of bounds"),
    ],
    ids=str,
)
def test_errors(key, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        T[key]


def test_scalars_and_masks_that_do_not_fit():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(1)[0]
    assert tf.constant(1)[...].numpy() == 1 and tf.constant(1)[None].shape == (1,)
    with pytest.raises(ValueError, match="mask cannot be scalar"):
        T[True]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="incompatible|mask"):
        T[tf.constant([True, False, True])]
    with pytest.raises(tf.errors.InvalidArgumentError):
        T[np.array([0, 7])]


def test_tensors_do_not_change():
    with pytest.raises(TypeError, match="does not support item assignment"):
        T[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(T)[0] = 1


def test_strings():
    words = tf.constant([["a", "bb"], ["ccc", ""]])
    assert words[1, 0].numpy() == b"ccc"
    assert words[:, ::-1].numpy().tolist() == [[b"bb", b"a"], [b"", b"ccc"]]
