"""Making tensors: from Python, from NumPy, from shapes, and what cannot become one."""

import array
import contextlib

import numpy as np
import pytest
from arrays import PLAIN, assert_close, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import tidemark as tf


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, tf.int32),
        (1.5, tf.float32),
        (True, tf.bool),
        (2**40, tf.int64),
        (1j, tf.complex128),
        ("a", tf.string),
        (b"a", tf.string),
        ([1, 2.5], tf.float32),
        ([1, 2**40], tf.int64),
        ([], tf.float32),
        ([[1], [2]], tf.int32),
        ((1.0, (2.0)), tf.float32),
        (range(3), tf.int32),
        (np.float64(1), tf.float64),
        (np.array([1.0]), tf.float64),
        (np.array(["a", "b"]), tf.string),
        ([np.float32(1), np.float32(2)], tf.float32),
        ([np.array([1, 2]), np.array([3, 4])], tf.int32),
        ([[tf.constant(1), 2]], tf.int32),
    ],
    ids=str,
)
def test_types_of_constants(value, dtype):
    assert tf.constant(value).dtype is dtype


def test_values_of_constants():
    assert tf.constant([[1, 2], [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.constant(7, shape=[2, 2]).numpy().tolist() == [[7, 7], [7, 7]]
    assert tf.constant([1, 2, 3, 4], shape=[2, 2]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.constant([1, 2], tf.float16).numpy().dtype == np.float16
    assert tf.constant(["é", "", "x" * 1000]).numpy().tolist() == ["é".encode(), b"", b"x" * 1000]
    assert tf.constant([[], []]).shape == (2, 0)
    assert tf.constant(range(10_000)).numpy().tolist() == list(range(10_000))


@pytest.mark.parametrize(
    ("ask", "error", "text"),
    [
        (lambda: tf.constant([1, [2]]), ValueError, None),
        (lambda: tf.constant([[1, 2], [3]]), ValueError, "non-rectangular Python sequence"),
        (lambda: tf.constant([1, "a"]), ValueError, None),
        (lambda: tf.constant(None), ValueError, "Attempt to convert a value \\(None\\)"),
        (lambda: tf.constant(object()), ValueError, "unsupported type"),
        (lambda: tf.constant(2**70), ValueError, "out-of-range integer"),
        (lambda: tf.constant(1.5, tf.int32), TypeError, "Cannot convert 1.5 to EagerTensor"),
        (lambda: tf.constant("a", tf.int32), TypeError, "Cannot convert 'a' to EagerTensor"),
        (lambda: tf.constant([1, 2], shape=[3]), TypeError, "has 2 elements, but got `shape`"),
        (lambda: tf.constant(1, "foo"), TypeError, "Cannot convert the argument `type_value`"),
        (
            lambda: tf.convert_to_tensor(tf.constant(1), tf.float32),
            ValueError,
            "Tensor conversion requested dtype float32 for Tensor with dtype int32",
        ),
    ],
)
def test_what_is_no_tensor(ask, error, text):
    with pytest.raises(error, match=text):
        ask()


def test_lists_within_themselves():
    endless = []
    endless.append(endless)
    with pytest.raises((ValueError, RecursionError)):
        tf.constant(endless)


def test_convert_to_tensor():
    x = tf.constant([1.0])
    assert tf.convert_to_tensor(x) is x
    assert tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype is tf.float32
    assert tf.convert_to_tensor("a", dtype_hint=tf.float32).dtype is tf.string
    assert tf.convert_to_tensor([1], "int8").dtype is tf.int8


@pytest.mark.parametrize("dtype", PLAIN)
def test_arrays_round_trip(dtype):
    for shape in ((), (0,), (3,), (2, 3, 4)):
        a = sample(dtype, shape)
        assert_close(tf.constant(a), a, rtol=0)
        assert_close(tf.convert_to_tensor(a), a, rtol=0)


@given(npst.arrays(np.float32, npst.array_shapes(max_dims=3, max_side=5)), st.data())
@settings(max_examples=60, deadline=None)
def test_any_layout(a, data):
    steps = tuple(slice(None, None, data.draw(st.sampled_from([1, 2, -1]))) for _ in a.shape)
    view = a[steps].T
    np.testing.assert_array_equal(tf.constant(view).numpy(), view)
    np.testing.assert_array_equal(tf.convert_to_tensor(view).numpy(), view)


def test_memory_is_shared_with_numpy():
    a = np.arange(1 << 16, dtype=np.float32)
    live = tf.memory.stats().live
    x = tf.convert_to_tensor(a)
    assert tf.memory.stats().live - live < a.nbytes // 4  # no copy
    assert np.shares_memory(np.asarray(x), a)
    del a
    assert x.numpy()[-1] == (1 << 16) - 1  # the owner is kept alive


def test_constants_are_copies():
    a = np.array([1.0, 2.0], np.float32)
    x = tf.constant(a)
    a[0] = 9
    assert x.numpy().tolist() == [1, 2]


def test_other_buffers():
    assert tf.constant(array.array("f", [1, 2])).numpy().tolist() == [1, 2]
    assert tf.constant(memoryview(bytes([1, 2]))).numpy().tolist() == [1, 2]
    read_only = np.arange(4.0)
    read_only.flags.writeable = False
    assert tf.convert_to_tensor(read_only).numpy().tolist() == [0, 1, 2, 3]
    assert tf.constant(np.arange(4)[::-1]).numpy().tolist() == [3, 2, 1, 0]
    assert tf.constant(np.arange(4, dtype=">i4")).numpy().tolist() == [0, 1, 2, 3]


def test_views_keep_tensors_alive():
    view = memoryview(tf.constant([1.0, 2.0]).numpy())
    assert view.tolist() == [1, 2]
    assert np.asarray(tf.constant([3.0])).tolist() == [3]
    assert np.array(tf.constant([1, 2]), dtype=np.float32).dtype == np.float32


def test_dlpack():
    x = tf.constant([1.0, 2.0, 3.0])
    shared = np.from_dlpack(x)
    assert shared.tolist() == [1, 2, 3]
    back = tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(x))
    assert back.numpy().tolist() == [1, 2, 3]
    del x
    assert shared.tolist() == [1, 2, 3]


class Liar:
    """Has an __array__ that is not one."""

    def __array__(self, dtype=None, copy=None):
        return "not an array"


class Failing:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array today")

    def __len__(self):
        raise RuntimeError("no length either")


class Shrinking(list):
    """Says it has more elements than it gives."""

    def __len__(self):
        return 5


def test_objects_that_lie():
    for value in (Liar(), Failing(), [Failing()]):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            tf.constant(value)
    for value, shape in ((Shrinking([1, 2]), (2,)), ([Shrinking([1]), [1]], (2, 1))):
        with contextlib.suppress(TypeError, ValueError, IndexError):  # refused, or
            assert tf.constant(value).shape == shape  # read by its true length


TOO_LARGE = (tf.errors.ResourceExhaustedError, tf.errors.InvalidArgumentError)


# --- from shapes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", PLAIN)
def test_zeros_and_ones(dtype):
    for shape in ((), (0,), (3,), (2, 3)):
        assert_close(tf.zeros(shape, dtype), np.zeros(shape, dtype))
        assert_close(tf.ones(shape, dtype), np.ones(shape, dtype))
        like = sample(dtype, shape)
        assert_close(tf.zeros_like(like), np.zeros_like(like))
        assert_close(tf.ones_like(like, tf.int32), np.ones(shape, np.int32))


def test_shapes_in_any_form():
    for shape in ([2, 3], (2, 3), tf.TensorShape([2, 3]), tf.constant([2, 3]), np.array([2, 3]),
                  [tf.constant(2), 3], tf.constant([2, 3], tf.int64)):  # fmt: skip
        assert tf.zeros(shape).shape == (2, 3)
        assert tf.fill(shape, 1).shape == (2, 3)
    assert tf.zeros(3).shape == (3,) and tf.zeros(tf.constant(3)).shape == (3,)
    assert tf.zeros([], tf.string).numpy() == b""
    assert tf.fill([2], "ab").numpy().tolist() == [b"ab", b"ab"]


@pytest.mark.parametrize(
    ("ask", "errors"),
    [
        (lambda: tf.zeros([-1]), tf.errors.InvalidArgumentError),
        (
            lambda: tf.zeros([2**62]),
            TOO_LARGE,
        ),
        (lambda: tf.zeros([2**40, 2**40]), tf.errors.InvalidArgumentError),
        (lambda: tf.zeros([2**70]), (ValueError, OverflowError)),
        (lambda: tf.zeros(3.5), TypeError),
        (lambda: tf.zeros("a"), TypeError),
        (lambda: tf.zeros([[2, 3]]), tf.errors.InvalidArgumentError),
        (lambda: tf.zeros([2], "foo"), TypeError),
        (lambda: tf.fill([2], [1, 2]), tf.errors.InvalidArgumentError),
        (lambda: tf.eye(-1), tf.errors.InvalidArgumentError),
        (lambda: tf.range(0, 5, 0), tf.errors.InvalidArgumentError),
        (lambda: tf.range(0, 5, -1), tf.errors.InvalidArgumentError),
        (
            lambda: tf.range(2**62),
            TOO_LARGE,
        ),
    ],
)
def test_bad_sizes(ask, errors):
    with pytest.raises(errors):
        ask()


def test_eye():
    assert_close(tf.eye(3), np.eye(3, dtype=np.float32))
    assert_close(tf.eye(2, 3, dtype=tf.int32), np.eye(2, 3, dtype=np.int32))
    assert tf.eye(2, batch_shape=[3, 1]).shape == (3, 1, 2, 2)


def test_range():
    assert_close(tf.range(5), np.arange(5, dtype=np.int32))
    assert_close(tf.range(1, 10, 3), np.arange(1, 10, 3, dtype=np.int32))
    assert_close(tf.range(5, 0, -2), np.int32([5, 3, 1]))
    assert_close(tf.range(1.0, 2.0, 0.25), np.arange(1, 2, 0.25, dtype=np.float32))
    assert (
        tf.range(5, dtype=tf.float64).dtype is tf.float64 and tf.range(2**40, 2**40 + 2).numpy()[1]
    )
    assert tf.range(tf.constant(3, tf.int64)).dtype is tf.int64 and tf.range(0).shape == (0,)


def test_linspace():
    assert_close(tf.linspace(0.0, 1.0, 5), np.linspace(0, 1, 5, dtype=np.float32))
    assert tf.linspace(0, 1, 3).dtype is tf.float64
    assert tf.linspace(0.0, 1.0, 1).numpy().tolist() == [0]
    grid = tf.linspace([0.0, 10.0], [1.0, 20.0], 3)
    assert grid.numpy().tolist() == [[0, 10], [0.5, 15], [1, 20]]


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees


class Metres:
    def __init__(self, length):
        self.length = length

    def __tf_tensor__(self, dtype=None, name=None):
        return tf.constant(self.length, dtype)


def test_types_of_users_become_tensors():
    with pytest.raises(ValueError, match="unsupported type"):
        tf.convert_to_tensor(Celsius(1.5))
    tf.register_tensor_conversion_function(
        Celsius,
        lambda value, dtype=None, name=None, as_ref=False: tf.constant(value.degrees, dtype),
    )
    assert tf.convert_to_tensor(Celsius(1.5)).numpy() == 1.5
    assert tf.add(Celsius(1.5), 1.0).numpy() == 2.5
    assert tf.convert_to_tensor(Celsius(2), tf.float64).dtype is tf.float64
    assert tf.convert_to_tensor(Metres(2.5)).numpy() == 2.5
    with pytest.raises(TypeError, match="must be a type"):
        tf.register_tensor_conversion_function("Celsius", print)
