"""Glimpses, patches of volumes, fractional pooling, distorted boxes: by TensorFlow's results where
nothing is random, by what must hold where something is."""

import numpy as np
import pytest

import tidemark as tf

PICTURE = np.arange(25, dtype=np.float32).reshape(1, 5, 5, 1)


# What TensorFlow 2.21 gave.
@pytest.mark.parametrize(
    ("offset", "centered", "normalized", "expected"),
    [
        ([0.0, 0.0], True, True, [[6, 7, 8], [11, 12, 13], [16, 17, 18]]),
        ([0.5, -0.5], True, True, [[10, 11, 12], [15, 16, 17], [20, 21, 22]]),
        ([1.0, 2.0], False, False, [[7, 8, 9], [12, 13, 14], [17, 18, 19]]),
        ([0.2, 0.5], False, True, [[7, 8, 9], [12, 13, 14], [17, 18, 19]]),
        ([-1.0, -1.0], True, True, [[0, 0, 0], [0, 0, 1], [0, 5, 6]]),
    ],
)
def test_glimpses(offset, centered, normalized, expected):
    def glimpse(x):
        return tf.image.extract_glimpse(x, [3, 3], [offset], centered, normalized, "zero")

    for run in (glimpse, tf.function(glimpse)):
        np.testing.assert_array_equal(run(tf.constant(PICTURE))[0, :, :, 0], expected)


def test_noise_around_glimpses():
    for noise in ("uniform", "gaussian"):
        seen = tf.image.extract_glimpse(tf.zeros([1, 4, 4, 1]), [9, 9], [[0.0, 0.0]], noise=noise)
        outside = seen.numpy().reshape(-1)
        assert (outside != 0).sum() == 81 - 16
    with pytest.raises(ValueError, match="noise"):
        tf.image.extract_glimpse(PICTURE, [3, 3], [[0.0, 0.0]], noise="pink")
    with pytest.raises(ValueError, match="centered"):
        tf.image.extract_glimpse(PICTURE, [3, 3], [[0.0, 0.0]], normalized=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="offsets"):
        tf.image.extract_glimpse(PICTURE, [3, 3], [[0.0, 0.0]] * 2)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_patches_of_volumes(padding):
    x = np.random.default_rng(0).normal(size=(2, 4, 5, 3, 2))
    kernel, step = (2, 3, 2), (1, 2, 1)
    got = tf.extract_volume_patches(x, [1, *kernel, 1], [1, *step, 1], padding)
    pads = [[0, 0]] * 3
    if padding == "SAME":
        pads = []
        for n, k, s in zip(x.shape[1:4], kernel, step, strict=True):
            total = max((-(-n // s) - 1) * s + k - n, 0)
            pads.append([total // 2, total - total // 2])
    padded = np.pad(x, [[0, 0], *pads, [0, 0]])
    for at in np.ndindex(*got.shape[1:4]):
        cut = [slice(a * s, a * s + k) for a, s, k in zip(at, step, kernel, strict=True)]
        want = padded[(slice(None), *cut)].reshape(2, -1)
        np.testing.assert_array_equal(got[(slice(None), *at)], want)
    assert got.shape[-1] == 24
    with pytest.raises(ValueError, match="begin and end with 1"):
        tf.extract_volume_patches(x, [2, 1, 1, 1, 1], [1, 1, 1, 1, 1], padding)


def test_patches_of_volumes_have_a_gradient():
    x = tf.Variable(tf.ones([1, 3, 3, 3, 1]))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.extract_volume_patches(x, [1, 2, 2, 2, 1], [1] * 5, "VALID"))
    times = tape.gradient(y, x).numpy()[0, ..., 0]
    assert times[1, 1, 1] == 8 and times[0, 0, 0] == 1


@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_fractional_pooling(kind, overlapping, pseudo_random):
    x = np.random.default_rng(1).normal(size=(2, 23, 17, 3)).astype(np.float32)
    function = tf.nn.fractional_max_pool if kind == "max" else tf.nn.fractional_avg_pool
    for seed in range(1, 5):
        y, rows, columns = function(x, [1, 1.44, 1.73, 1], pseudo_random, overlapping, seed)
        rows, columns = rows.numpy(), columns.numpy()
        assert y.shape == (2, 15, 9, 3)  # 23 / 1.44 and 17 / 1.73, rounded down
        for cuts, n, ratio in ((rows, 23, 23 / 15), (columns, 17, 17 / 9)):
            assert cuts[0] == 0 and cuts[-1] == n
            assert set(np.diff(cuts)) <= {int(ratio), int(ratio) + 1}
        reduce = np.max if kind == "max" else np.mean
        for i, j in np.ndindex(15, 9):
            down = slice(rows[i], rows[i + 1] + overlapping)
            across = slice(columns[j], columns[j + 1] + overlapping)
            np.testing.assert_allclose(
                y[:, i, j], reduce(x[:, down, across], (1, 2)), rtol=1e-5, atol=1e-6
            )


def test_fractional_pooling_in_functions_and_backwards():
    x = tf.constant(np.random.default_rng(2).normal(size=(1, 9, 9, 1)).astype(np.float32))

    @tf.function
    def pool(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.fractional_max_pool(x, 1.5).output
            total = tf.reduce_sum(y)
        return y, tape.gradient(total, x)

    y, dx = pool(x)
    np.testing.assert_allclose(tf.reduce_sum(dx), 36)
    drawn = {bytes(tf.nn.fractional_max_pool(x, 1.5)[1].numpy()) for _ in range(20)}
    assert len(drawn) > 1
    with pytest.raises(ValueError, match="pooling_ratio"):
        tf.nn.fractional_max_pool(x, 0.5)


BOXES = [[[0.1, 0.2, 0.6, 0.7]]]


def check_crop(begin, size, box, covered):
    top, left, zero = begin.numpy().tolist()
    tall, wide, rest = size.numpy().tolist()
    assert (zero, rest) == (0, -1)
    assert top >= 0 and top + tall <= 100 and left >= 0 and left + wide <= 80
    assert 0.05 * 8000 <= tall * wide <= 8000
    np.testing.assert_allclose(
        box[0, 0], [top / 100, left / 80, (top + tall) / 100, (left + wide) / 80], rtol=1e-5
    )
    rows = min(60, top + tall) - max(10, top)
    columns = min(56, left + wide) - max(16, left)
    assert rows > 0 and columns > 0 and rows * columns >= covered * 50 * 40
    if tall * wide < 8000:
        assert 0.7 <= wide / tall <= 1.4


def test_distorted_boxes():
    seen = set()
    for _ in range(30):
        crop = tf.image.sample_distorted_bounding_box([100, 80, 3], BOXES, min_object_covered=0.3)
        check_crop(*crop, 0.3)
        seen.add(tuple(crop[0].numpy().tolist()))
    assert len(seen) > 10
    first, again, other = (
        tf.image.stateless_sample_distorted_bounding_box([100, 80, 3], BOXES, s)
        for s in ([1, 2], [1, 2], [3, 4])
    )
    check_crop(*first, 0.1)
    np.testing.assert_array_equal(first[0], again[0])
    assert (first[2].numpy() != other[2].numpy()).any()


def test_distorted_boxes_in_functions():
    @tf.function
    def crop(image):
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.shape(image), BOXES, min_object_covered=0.1
        )
        return tf.slice(image, begin, size), begin

    image = tf.zeros([100, 80, 3])
    begins = {tuple(crop(image)[1].numpy().tolist()) for _ in range(10)}
    assert len(begins) > 3  # drawn anew in every run
    assert crop(image)[0].shape[-1] == 3


def test_bad_distorted_boxes():
    none = np.zeros((1, 0, 4), np.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no bounding boxes"):
        tf.image.sample_distorted_bounding_box([9, 9, 3], none)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        [9, 9, 3], none, use_image_if_no_bounding_boxes=True
    )
    assert size.numpy()[-1] == -1 and begin.numpy()[-1] == 0
    for bad in ({"area_range": (0.5, 1.5)}, {"aspect_ratio_range": (0.0, 1.0)}):
        with pytest.raises(tf.errors.InvalidArgumentError, match="range"):
            tf.image.sample_distorted_bounding_box([9, 9, 3], BOXES, **bad)
    with pytest.raises(tf.errors.InvalidArgumentError, match="rising"):
        tf.image.sample_distorted_bounding_box([9, 9, 3], [[[0.5, 0.5, 0.1, 0.6]]])
