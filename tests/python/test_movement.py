"""Ops that move elements, against NumPy: shapes, joins, slices, gathers, scatters, order."""

import numpy as np
import pytest
from arrays import PLAIN, REAL, assert_close, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import tidemark as tf

shapes = npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def numbered(shape, dtype=np.int32):
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


# --- shapes --------------------------------------------------------------------------------------


def test_reshape():
    a = numbered((2, 3, 4))
    for shape in (
        (24,),
        (4, 6),
        (-1,),
        (2, -1),
        (1, 24, 1),
        [tf.constant(6), 4],
        tf.constant([8, 3]),
    ):
        sizes = [int(s) for s in (shape.numpy() if isinstance(shape, tf.Tensor) else shape)]
        assert_close(tf.reshape(a, shape), a.reshape(sizes))
    assert tf.reshape([5], []).shape == () and tf.reshape(tf.zeros([0, 3]), [3, 0]).shape == (3, 0)
    x = tf.ones([1000])
    live = tf.memory.stats().live
    y = tf.reshape(x, [10, 100])
    assert tf.memory.stats().live == live and y.shape == (10, 100)  # a view


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ([4], "Input to reshape is a tensor with 6 values, but the requested shape has 4"),
        ([-1, -1], "Only one input size may be -1, not both 0 and 1"),
        ([-2, 3], "Size 0 must be non-negative, not -2"),
        ([-1, 4], "multiple of 4"),
        ([2**62, 8], None),
        ([[2, 3]], "1-D"),
    ],
)
def test_reshape_errors(shape, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.reshape(tf.range(6), shape)


def test_expand_and_squeeze():
    a = numbered((2, 1, 3))
    for axis in (0, 1, 3, -1, -4):
        assert_close(tf.expand_dims(a, axis), np.expand_dims(a, axis))
    assert_close(tf.squeeze(a), a.squeeze())
    assert_close(tf.squeeze(a, 1), a.squeeze(1))
    assert_close(tf.squeeze(a, [-2]), a.squeeze(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected a dimension of 1, got 2"):
        tf.squeeze(a, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Tried to expand dim index 5"):
        tf.expand_dims(a, 5)


def test_shape_size_rank():
    a = tf.zeros([2, 3])
    assert tf.shape(a).numpy().tolist() == [2, 3] and tf.shape(a).dtype is tf.int32
    assert tf.shape(a, tf.int64).dtype is tf.int64 and tf.shape(5).shape == (0,)
    assert tf.size(a).numpy() == 6 and tf.rank(a).numpy() == 2 and tf.rank([[1]]).dtype is tf.int32
    assert [s.numpy().tolist() for s in tf.shape_n([a, [1]])] == [[2, 3], [1]]
    assert tf.ensure_shape(a, [2, None]) is a
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not compatible with expected"):
        tf.ensure_shape([1, 2], [3])


def test_ensured_shapes_in_graphs():
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def ensured(x):
        known = tf.ensure_shape(x, [None, 3])
        assert known.shape.as_list() == [None, 3]
        return known

    for rows in (0, 1, 4):
        x = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
        np.testing.assert_array_equal(ensured(x), x)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        ensured(tf.ones([2, 4]))


@given(shapes, st.randoms())
@settings(max_examples=60, deadline=None)
def test_transpose(shape, random):
    a = numbered(shape)
    perm = list(range(a.ndim))
    random.shuffle(perm)
    assert_close(tf.transpose(a, perm), a.transpose(perm))
    assert_close(tf.transpose(a), a.T)


@pytest.mark.parametrize("dtype", PLAIN)
def test_transpose_dtypes_and_sizes(dtype):
    for shape in ((65, 33), (3, 130, 5), (128, 64)):
        a = sample(dtype, shape)
        assert_close(tf.transpose(a), a.T, rtol=0)


def test_transpose_errors_and_conjugate():
    for perm in ([0, 0], [0], [0, 2], [1, 0, 2]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.transpose(tf.zeros([2, 3]), perm)
    z = np.array([[1 + 1j, 2j]])
    assert_close(tf.transpose(z, conjugate=True), z.conj().T)


def test_broadcast_to():
    a = numbered((3, 1))
    for shape in ((3, 4), (2, 3, 4), (3, 1), (0, 3, 1)):
        assert_close(tf.broadcast_to(a, shape), np.broadcast_to(a, shape))
    with pytest.raises(tf.errors.InvalidArgumentError, match="ncompatible shapes"):
        tf.broadcast_to([1, 2], [3])


# --- joining and splitting -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", PLAIN)
def test_concat_and_stack(dtype):
    a, b = sample(dtype, (2, 3), 1), sample(dtype, (2, 3), 2)
    for axis in (0, 1, -1, -2):
        assert_close(tf.concat([a, b, a], axis), np.concatenate([a, b, a], axis), rtol=0)
    for axis in (0, 1, 2, -1, -3):
        assert_close(tf.stack([a, b], axis=axis), np.stack([a, b], axis), rtol=0)
    joined = tf.concat([tf.zeros([0, 3], dtype), tf.constant(a)], axis=0)
    assert_close(joined, a, rtol=0)


def test_strings_move_too():
    a = tf.constant([["a", "bb"], ["", "dddd"]])
    n = np.array([[b"a", b"bb"], [b"", b"dddd"]], object)
    np.testing.assert_array_equal(tf.concat([a, a], 0).numpy(), np.concatenate([n, n], 0))
    np.testing.assert_array_equal(tf.transpose(a).numpy(), n.T)
    np.testing.assert_array_equal(tf.tile(a, [1, 2]).numpy(), np.tile(n, (1, 2)))
    np.testing.assert_array_equal(tf.gather(a, [1, 0]).numpy(), n[[1, 0]])
    np.testing.assert_array_equal(tf.stack([a, a]).numpy(), np.stack([n, n]))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: tf.concat([tf.zeros([2]), tf.zeros([2, 2])], 0),
        lambda: tf.concat([tf.zeros([2, 2]), tf.zeros([3, 3])], 0),
        lambda: tf.concat([tf.zeros([2, 2]), tf.zeros([2, 2])], 5),
        lambda: tf.stack([tf.zeros([2]), tf.zeros([3])]),
        lambda: tf.split(tf.range(10), 3),
        lambda: tf.split(tf.range(10), [3, 3]),
        lambda: tf.split(tf.range(10), [-1, -1]),
        lambda: tf.split(tf.range(10), [5, 5], axis=3),
        lambda: tf.unstack(tf.zeros([2, 3]), num=5),
        lambda: tf.tile([1], [-1]),
        lambda: tf.tile([1], [1, 2]),
        lambda: tf.pad([1], [[1, 2], [3, 4]]),
        lambda: tf.pad([1], [[-1, 2]]),
    ],
)
def test_what_does_not_join_or_split(ask):
    with pytest.raises(tf.errors.InvalidArgumentError):
        ask()


def test_split_and_unstack():
    a = numbered((6, 4))
    for axis in (0, 1, -1):
        for ours, numpy in zip(tf.split(a, 2, axis), np.split(a, 2, axis), strict=True):
            assert_close(ours, numpy)
    sizes = [3, -1, 1]
    for ours, numpy in zip(tf.split(a, sizes), np.split(a, [3, 5]), strict=True):
        assert_close(ours, numpy)
    for ours, numpy in zip(tf.split(a, tf.constant([1, 5])), np.split(a, [1]), strict=True):
        assert_close(ours, numpy)
    for axis in (0, 1):
        rows = tf.unstack(a, axis=axis)
        assert isinstance(rows, list) and len(rows) == a.shape[axis]
        assert_close(tf.stack(rows, axis), a)
    assert tf.unstack(tf.zeros([0, 3])) == []
    with pytest.raises(ValueError, match="not in range"):
        tf.unstack(a, axis=2)


def test_tile_repeat_roll_reverse():
    a = numbered((2, 3))
    assert_close(tf.tile(a, [2, 3]), np.tile(a, (2, 3)))
    assert tf.tile(a, [0, 1]).shape == (0, 3)
    assert_close(tf.repeat(a, 2, axis=0), np.repeat(a, 2, 0))
    assert_close(tf.repeat(a, [1, 0, 2], axis=1), np.repeat(a, [1, 0, 2], 1))
    assert_close(tf.repeat([1, 2], [1, 2]), np.int32([1, 2, 2]))
    assert tf.repeat(3, 4).numpy().tolist() == [3, 3, 3, 3]
    assert_close(tf.roll(a, 1, 1), np.roll(a, 1, 1))
    assert_close(tf.roll(a, [1, -2], [0, 1]), np.roll(a, (1, -2), (0, 1)))
    assert_close(tf.reverse(a, [1]), a[:, ::-1])
    assert_close(tf.reverse(a, [0, -1]), a[::-1, ::-1])
    for bad in (
        lambda: tf.roll(a, 1, 5),
        lambda: tf.reverse(a, [3]),
        lambda: tf.reverse(a, [0, 0]),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            bad()


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "SYMMETRIC", "constant"])
def test_pad(mode):
    numpy_mode = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}.get(mode, "constant")
    for dtype in ("float32", "int8", "int64"):
        a = sample(dtype, (3, 4))
        expected = np.pad(a, [(1, 2), (0, 2)], mode=numpy_mode)
        assert_close(tf.pad(a, [[1, 2], [0, 2]], mode), expected, rtol=0)
    assert tf.pad([1.5], [[1, 0]], constant_values=9).numpy().tolist() == [9, 1.5]
    assert tf.pad([True], [[1, 0]]).numpy().tolist() == [False, True]
    with pytest.raises(ValueError, match="Value of argument `mode` expected to be one of"):
        tf.pad([1], [[1, 1]], "foo")


def test_meshgrid():
    for indexing in ("xy", "ij"):
        for args in (([1, 2], [3, 4, 5]), ([1, 2], [3], [5, 6])):
            expected = np.meshgrid(*[np.int32(a) for a in args], indexing=indexing)
            for ours, numpy in zip(tf.meshgrid(*args, indexing=indexing), expected, strict=True):
                assert_close(ours, numpy)
    with pytest.raises(ValueError, match="must be either 'xy' or 'ij', got 'zz'"):
        tf.meshgrid([1], [2], indexing="zz")


# --- slices --------------------------------------------------------------------------------------


def test_slice():
    a = numbered((3, 4, 5))
    assert_close(tf.slice(a, [1, 0, 2], [1, -1, 2]), a[1:2, :, 2:4])
    assert tf.slice([1, 2, 3], [3], [0]).shape == (0,)
    for begin, size in (([0], [5]), ([-1], [2]), ([4], [0]), ([0, 0], [1, 1])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.slice([1, 2, 3], begin, size)


def test_strided_slice():
    a = numbered((3, 4, 5))
    assert_close(tf.strided_slice(a, [0, 1], [3, 4], [2, 1]), a[0:3:2, 1:4])
    assert_close(tf.strided_slice(a, [1], [2]), a[1:2])
    assert_close(
        tf.strided_slice(a, [0, 3], [0, 0], [1, -1], begin_mask=1, end_mask=1), a[:, 3:0:-1]
    )
    assert_close(tf.strided_slice(a, [1], [2], shrink_axis_mask=1), a[1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be non-zero"):
        tf.strided_slice([1, 2, 3], [0], [3], [0])


# --- taking and putting --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", PLAIN)
def test_gather(dtype):
    a = sample(dtype, (4, 5, 3))
    for axis in (0, 1, 2, -1):
        for indices in ([0, 2, 1], [[1, 0], [2, 2]], 1, np.zeros((0,), np.int64)):
            expected = np.take(a, np.asarray(indices, np.int64), axis)
            assert_close(tf.gather(a, np.asarray(indices, np.int32), axis=axis), expected, rtol=0)


def test_gather_batches_and_errors():
    a, i = numbered((2, 4, 3)), np.array([[0, 3], [1, 1]])
    expected = np.stack([a[b][i[b]] for b in range(2)])
    assert_close(tf.gather(a, i, batch_dims=1), expected)
    assert_close(tf.gather(a, i, axis=1, batch_dims=1), expected)
    for bad in ([4], [-1], [0, 100]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"is not in \[0, 2\)"):
            tf.gather(a, bad)
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        tf.gather(a, 1.5)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.gather(a, [0], axis=7)


def test_gather_nd():
    a = numbered((3, 4, 5))
    i = np.array([[0, 1], [2, 3]])
    assert_close(tf.gather_nd(a, i), a[i[:, 0], i[:, 1]])
    assert_close(tf.gather_nd(a, [[1]]), a[[1]])
    assert_close(tf.gather_nd(a, [[0, 1, 2]]), a[[0], [1], [2]])
    batched = np.array([[[1]], [[2]], [[0]]])
    expected = np.stack([a[b][batched[b][:, 0]] for b in range(3)])
    assert_close(tf.gather_nd(a, batched, batch_dims=1), expected)
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into"):
        tf.gather_nd([[1, 2]], [[0, 5]])


def test_boolean_mask():
    a = numbered((3, 4))
    mask = np.array([True, False, True])
    assert_close(tf.boolean_mask(a, mask), a[mask])
    assert_close(tf.boolean_mask(a, a % 2 == 0), a[a % 2 == 0])
    assert_close(tf.boolean_mask(a, [True, False, False, True], axis=1), a[:, [0, 3]])
    assert tf.boolean_mask(a, [False] * 3).shape == (0, 4)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.boolean_mask([1, 2, 3], [True, False])


def test_one_hot():
    assert_close(tf.one_hot([0, 2, 1], 3), np.eye(3, dtype=np.float32)[[0, 2, 1]])
    assert_close(tf.one_hot([0, 1], 2, axis=0), np.eye(2, dtype=np.float32))
    assert tf.one_hot([0, 5, -1], 3).numpy().tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert tf.one_hot([1], 2, on_value=5, off_value=1).numpy().tolist() == [[1, 5]]
    assert tf.one_hot([1], 2, True, False).dtype is tf.bool
    assert tf.one_hot([1], 2, dtype=tf.int8).dtype is tf.int8
    assert tf.one_hot(1, 0).shape == (0,)
    with pytest.raises(TypeError, match="of on_value does not match dtype"):
        tf.one_hot([0], 2, on_value=1, off_value=0.0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.one_hot([0], -1)


def test_scatter():
    i, u = [[0], [2], [0]], [1, 5, 3]
    assert tf.scatter_nd(i, u, [4]).numpy().tolist() == [4, 0, 5, 0]
    base = tf.constant([10, 20, 30, 40])
    updated = tf.tensor_scatter_nd_update(base, [[1], [3]], [7, 8])
    assert updated.numpy().tolist() == [10, 7, 30, 8] and base.numpy().tolist() == [10, 20, 30, 40]
    assert tf.tensor_scatter_nd_add(base, i, u).numpy().tolist() == [14, 20, 35, 40]
    assert tf.tensor_scatter_nd_sub(base, i, u).numpy().tolist() == [6, 20, 25, 40]
    assert tf.tensor_scatter_nd_max(base, i, [99, 1, 1]).numpy().tolist() == [99, 20, 30, 40]
    assert tf.tensor_scatter_nd_min(base, i, [9, 1, 5]).numpy().tolist() == [5, 20, 1, 40]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.scatter_nd([[5]], [1], [3])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.scatter_nd([[0]], [1, 2], [3])


# --- order ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REAL)
def test_sort(dtype):
    for shape in ((7,), (3, 9), (2, 3, 4), (1000,), (0, 3)):
        a = sample(dtype, shape, 9)
        for axis in range(-len(shape), len(shape)):
            assert_close(tf.sort(a, axis=axis), np.sort(a, axis), rtol=0)
            down = -np.sort(-a.astype(np.float64), axis)
            assert_close(tf.sort(a, axis, "DESCENDING"), down.astype(dtype), rtol=0)
            expected = np.argsort(a, axis, kind="stable")
            assert_close(tf.argsort(a, axis=axis, stable=True), expected.astype(np.int32))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="irection"):
        tf.sort([3, 1, 2], direction="foo")


def test_top_k():
    a = sample("float32", (3, 10), 2)
    top = tf.math.top_k(a, k=4)
    assert type(top).__name__ == "TopKV2" and top.indices.dtype is tf.int32
    assert_close(top.values, -np.sort(-a, axis=1)[:, :4])
    np.testing.assert_array_equal(np.take_along_axis(a, top.indices.numpy(), 1), top.values.numpy())
    assert tf.math.top_k([1, 3, 2]).values.numpy() == [3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.math.top_k([1, 2], 5)


def test_unique():
    found = tf.unique([3, 1, 3, 2, 1])
    assert type(found).__name__ == "Unique"
    assert found.y.numpy().tolist() == [3, 1, 2] and found.idx.numpy().tolist() == [0, 1, 0, 2, 1]
    counted = tf.unique_with_counts(["a", "b", "a"], out_idx=tf.int64)
    assert counted.y.numpy().tolist() == [b"a", b"b"] and counted.count.numpy().tolist() == [2, 1]
    assert counted.idx.dtype is tf.int64
    assert tf.unique(tf.zeros([0])).y.shape == (0,)
    with pytest.raises(tf.errors.InvalidArgumentError, match="1D|1-D"):
        tf.unique([[1]])


def test_sequences():
    assert_close(tf.sequence_mask([1, 3], 3), np.array([[1, 0, 0], [1, 1, 1]], bool))
    assert tf.sequence_mask([[1], [2]], dtype=tf.int32).numpy().tolist() == [[[1, 0]], [[1, 1]]]
    assert tf.math.invert_permutation([2, 0, 1]).numpy().tolist() == [1, 2, 0]
    for bad in ([0, 0], [0, 5], [[0]]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.math.invert_permutation(bad)
    assert tf.math.is_non_decreasing([1, 1, 2]).numpy()
    assert not tf.math.is_strictly_increasing([1, 1, 2]).numpy()


def test_coordinates_and_partitions():
    flat = np.array([0, 7, 23])
    expected = np.stack(np.unravel_index(flat, (2, 3, 4)))
    assert_close(tf.unravel_index(flat, [2, 3, 4]), expected)
    with pytest.raises(tf.errors.InvalidArgumentError, match="index is out of bound"):
        tf.unravel_index([7], [2, 3])
    a = numbered((4, 2))
    parts = tf.dynamic_partition(a, [1, 0, 1, 2], 4)
    assert [p.numpy().tolist() for p in parts] == [[[2, 3]], [[0, 1], [4, 5]], [[6, 7]], []]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.dynamic_partition(a, [1, 0, 1, 4], 4)
    for count in (0, -1, 2**31 - 1):  # told at once, not after billions of empty parts
        with pytest.raises(tf.errors.InvalidArgumentError, match="num_partitions must be 1 to"):
            tf.dynamic_partition(a, [0, 0, 0, 0], count)
    assert tf.searchsorted([1, 3, 5], [0, 3, 9]).numpy().tolist() == [0, 1, 3]
    assert tf.searchsorted([1, 3, 5], [3], side="right").numpy() == [2]


def test_segments():
    data, ids = np.float32([[1, 2], [3, 4], [5, 6]]), [0, 0, 2]
    assert tf.math.segment_sum(data, ids).numpy().tolist() == [[4, 6], [0, 0], [5, 6]]
    assert tf.math.unsorted_segment_sum(data, [2, 0, 2], 3).numpy().tolist() == [
        [3, 4], [0, 0], [6, 8]
    ]  # fmt: skip
    mean = tf.math.unsorted_segment_mean(data, [2, 0, 2], 3)
    assert mean.numpy().tolist() == [[3, 4], [0, 0], [3, 4]]
    root = tf.math.unsorted_segment_sqrt_n(data, [2, 0, 2], 3)
    assert_close(root, np.float32([[3, 4], [0, 0], [6 / 2**0.5, 8 / 2**0.5]]), rtol=1e-6)


def test_counting():
    assert tf.math.bincount([1, 1, 3]).numpy().tolist() == [0, 2, 0, 1]
    assert tf.math.bincount([1, 1, 3], minlength=6).shape == (6,)
    assert tf.math.bincount([1, 1, 3], maxlength=2).numpy().tolist() == [0, 2]
    weighted = tf.math.bincount([1, 1, 3], weights=[0.5, 1.0, 2.0])
    assert weighted.numpy().tolist() == [0, 1.5, 0, 2]
    assert tf.math.bincount([[0, 1], [1, 1]], axis=-1).numpy().tolist() == [[1, 1], [0, 2]]
    assert tf.math.confusion_matrix([0, 1, 1], [1, 1, 0]).numpy().tolist() == [[0, 1], [1, 1]]
    values = [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]
    assert tf.histogram_fixed_width(values, [0.0, 5.0], nbins=5).numpy().tolist() == [2, 1, 1, 0, 2]
