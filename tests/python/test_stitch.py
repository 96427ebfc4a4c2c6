"""Rows stitched together, transforms over any axes, and the largest along an axis."""

import numpy as np
import pytest
from arrays import assert_close, sample
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemark as tf

Invalid = tf.errors.InvalidArgumentError
NORMS = (None, "backward", "ortho", "forward")


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True),
    st.sampled_from(NORMS), st.booleans(), st.integers(0, 99),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_transforms_over_any_axes(axes, norm, resized, seed):
    rng = np.random.default_rng(seed)
    x = sample("float64", (3, 4, 5), seed)
    z = x + 1j * sample("float64", (3, 4, 5), seed + 1)
    sizes = rng.integers(1, 7, len(axes)).tolist() if resized else [x.shape[a] for a in axes]
    given_sizes = sizes if resized else None
    limits = {"rtol": 1e-10, "atol": 1e-10}
    assert_close(
        tf.signal.fftnd(z, given_sizes, axes, norm), np.fft.fftn(z, sizes, axes, norm), **limits
    )
    got = tf.signal.ifftnd(z, given_sizes, axes, norm)
    assert_close(got, np.fft.ifftn(z, sizes, axes, norm), **limits)
    half = np.fft.rfftn(x, sizes, axes, norm)
    assert_close(tf.signal.rfftnd(x, given_sizes, axes, norm), half, **limits)
    got = tf.signal.irfftnd(half, sizes, axes, norm)
    assert_close(got, np.fft.irfftn(half, sizes, axes, norm), **limits)


def test_transforms_by_default():
    x = sample("float32", (2, 3, 4))
    assert_close(tf.signal.rfftnd(x), np.fft.rfftn(x).astype("complex64"), rtol=1e-4, atol=1e-4)
    assert_close(tf.signal.irfftnd(tf.signal.rfftnd(x)), x, rtol=1e-4, atol=1e-5)
    for axes in ([3], [0, 0], [0, -3], []):
        with pytest.raises(Invalid, match="axes"):
            tf.signal.fftnd(x, axes=axes)
    with pytest.raises(Invalid, match="fft_length"):
        tf.signal.rfftnd(x, [4], [0, 1])
    with pytest.raises(ValueError, match="norm"):
        tf.signal.rfftnd(x, norm="half")


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("length", [4, 8, 24])
def test_modified_cosine_transforms_undo_each_other(length, norm):
    x = sample("float64", (2, 6 * length))
    back = tf.signal.inverse_mdct(tf.signal.mdct(x, length, norm=norm), norm=norm).numpy()
    inside = slice(length // 2, -length // 2)  # the ends lie in one frame alone
    np.testing.assert_allclose(back[:, inside], x[:, inside], atol=1e-10)
    with pytest.raises(ValueError, match="multiple of 4"):
        tf.signal.mdct(x, 6)


def test_stitching_undoes_partitions():
    data = sample("float64", (9, 2))
    numbers = np.array([2, 0, 1, 1, 0, 2, 2, 1, 0])
    parts = tf.dynamic_partition(data, numbers, 3)
    places = tf.dynamic_partition(tf.range(9), numbers, 3)
    assert_close(tf.dynamic_stitch(places, parts), data)


def test_stitching_has_gradients():
    a, b = tf.constant([1.0, 2.0]), tf.constant([[3.0], [4.0]])
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = tf.dynamic_stitch([[2, 0], [[1], [3]]], [a, b]) * [1.0, 2.0, 3.0, 4.0]
    da, db = tape.gradient(y, [a, b])
    np.testing.assert_array_equal(da.numpy(), [3, 1])
    np.testing.assert_array_equal(db.numpy(), [[2], [4]])


def test_stitching_at_the_edge():
    assert tf.dynamic_stitch([[]], [np.zeros((0, 3), "f4")]).shape == (0, 3)
    np.testing.assert_array_equal(tf.dynamic_stitch([[3]], [[7.0]]).numpy()[3], 7)
    with pytest.raises(Invalid, match="begin"):
        tf.dynamic_stitch([[0, 1]], [[1.0]])
    with pytest.raises(Invalid, match="as many"):
        tf.dynamic_stitch([[0]], [[1.0], [2.0]])
    with pytest.raises(Invalid):
        tf.dynamic_stitch([[-5]], [[1.0]])
    assert_close(tf.parallel_stack([[1, 4], [2, 5]]), np.array([[1, 4], [2, 5]], "int32"))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_largest_and_smallest(axis):
    x = sample("float32", (5, 4, 6))
    values, indices = tf.math.approx_max_k(x, 3, reduction_dimension=axis)
    order = np.flip(np.argsort(x, axis), axis).take(range(3), axis)
    np.testing.assert_array_equal(indices.numpy(), order)
    assert_close(values, np.take_along_axis(x, order, axis))
    values, indices = tf.nn.approx_min_k(x, 2, reduction_dimension=axis)
    order = np.argsort(x, axis).take(range(2), axis)
    np.testing.assert_array_equal(indices.numpy(), order)
    assert_close(values, np.take_along_axis(x, order, axis))


def test_accidental_hits():
    rows, samples, weights = tf.nn.compute_accidental_hits([[1, 2], [5, 3]], [2, 5, 1, 7, 2], 2)
    found = sorted(zip(rows.numpy().tolist(), samples.numpy().tolist(), strict=True))
    assert found == [(0, 0), (0, 2), (0, 4), (1, 1)]
    assert (weights.numpy() == np.finfo("f4").min).all()
    with pytest.raises(Invalid, match="true_classes"):
        tf.nn.compute_accidental_hits([1, 2], [2], 2)


def test_transforms_under_their_own_names():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    half = tf.rfftnd(x, [3, 4], [0, 1])
    np.testing.assert_allclose(half, np.fft.rfftn(x), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(tf.irfftnd(half, [3, 4], [0, 1]), x, rtol=1e-4, atol=1e-4)
    z = tf.constant(x, tf.complex64)
    np.testing.assert_allclose(tf.fftnd(z, [3, 4], [0, 1]), np.fft.fftn(x), rtol=1e-4, atol=1e-4)
    back = tf.ifftnd(tf.fftnd(z, [3, 4], [0, 1]), [3, 4], [0, 1])
    np.testing.assert_allclose(back, x, rtol=1e-4, atol=1e-4)
