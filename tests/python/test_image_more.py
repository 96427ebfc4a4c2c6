"""tf.image: likeness, edges, boxes and random changes; numbers of TensorFlow 2.21 in data/."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import tidemark as tf

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import record_tensorflow  # noqa: E402

RECORDED = json.loads((Path(__file__).parent / "data" / "tf_image_more.json").read_text())


@pytest.mark.parametrize(("expression", "expected"), RECORDED, ids=lambda v: str(v)[:70])
def test_as_tensorflow(expression, expected):
    ours = record_tensorflow.answer(expression, tf)
    if isinstance(expected, str):
        assert ours == expected
        return
    assert [part[:2] for part in ours] == [part[:2] for part in expected]
    for (_, _, got), (_, _, wanted) in zip(ours, expected, strict=True):
        np.testing.assert_allclose(
            np.array(got, np.float64), np.array(wanted, np.float64), rtol=2e-5, atol=2e-5
        )


def suppressed(boxes, scores, most, threshold):
    """Straight from the definition."""
    order = sorted(range(len(boxes)), key=lambda i: (-scores[i], i))
    kept = []
    for i in order:
        if len(kept) == most:
            break
        a = boxes[i]
        for j in kept:
            b = boxes[j]
            height = max(0, min(a[2], b[2]) - max(a[0], b[0]))
            width = max(0, min(a[3], b[3]) - max(a[1], b[1]))
            areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
            common = height * width
            if common / (sum(areas) - common) > threshold:
                break
        else:
            kept.append(i)
    return kept


def test_suppression_as_defined():
    rng = np.random.default_rng(1)
    for _ in range(20):
        corners = rng.integers(0, 20, (30, 2))
        boxes = np.concatenate([corners, corners + rng.integers(1, 12, (30, 2))], 1)
        scores = rng.integers(0, 10, 30) / 10
        for threshold in (0.0, 0.3, 0.9):
            got = tf.image.non_max_suppression(boxes.astype(np.float32), scores, 12, threshold)
            assert got.numpy().tolist() == suppressed(boxes, scores, 12, threshold)


def test_gradient_of_ssim():
    first = tf.constant(np.random.default_rng(0).random((1, 14, 14, 2)), tf.float32)
    second = tf.Variable(np.random.default_rng(1).random((1, 14, 14, 2)), dtype=tf.float32)
    with tf.GradientTape() as tape:
        likeness = tf.reduce_mean(tf.image.ssim(first, second, 1.0))
    slope = tape.gradient(likeness, second)
    step = 1e-3 * slope / tf.norm(slope)
    after = tf.reduce_mean(tf.image.ssim(first, second + step, 1.0))
    expected = float(tf.reduce_sum(step * slope))
    assert float(after - likeness) == pytest.approx(expected, rel=0.1)


def test_stateless_changes_depend_on_their_seed():
    image = tf.constant(np.random.default_rng(0).random((2, 6, 7, 3)), tf.float32)
    for change in (
        lambda seed: tf.image.stateless_random_brightness(image, 0.3, seed),
        lambda seed: tf.image.stateless_random_contrast(image, 0.3, 2.0, seed),
        lambda seed: tf.image.stateless_random_hue(image, 0.3, seed),
        lambda seed: tf.image.stateless_random_saturation(image, 0.3, 2.0, seed),
        lambda seed: tf.image.stateless_random_crop(image, (2, 3, 3, 3), seed),
    ):
        first, again, other = (change(seed).numpy() for seed in ((1, 2), (1, 2), (3, 4)))
        np.testing.assert_array_equal(first, again)
        assert (first != other).any()


def test_random_flips_and_crops():
    image = np.arange(2 * 3 * 4).reshape(2, 3, 4, 1).astype(np.float32)
    seen = set()
    for i in range(40):
        flipped = tf.image.stateless_random_flip_left_right(image, (i, 0)).numpy()
        for one, original in zip(flipped, image, strict=True):
            is_flipped = (one == original[:, ::-1]).all()
            assert is_flipped or (one == original).all()
            seen.add(bool(is_flipped))
        upside = tf.image.stateless_random_flip_up_down(image[0], (i, 0)).numpy()
        assert (upside == image[0]).all() or (upside == image[0][::-1]).all()
        part = tf.image.random_crop(image[0], (2, 2, 1)).numpy()
        assert part.shape == (2, 2, 1)
        assert part[0, 1, 0] - part[0, 0, 0] == 1 and part[1, 0, 0] - part[0, 0, 0] == 4
    assert seen == {True, False}


def test_bad_input():
    image = tf.zeros((1, 12, 12, 3))
    for call, kind in (
        (lambda: tf.image.ssim(image, tf.zeros((1, 12, 11, 3)), 1.0), ValueError),
        (lambda: tf.image.ssim(image[:, :5], image[:, :5], 1.0), tf.errors.InvalidArgumentError),
        (lambda: tf.image.rgb_to_yiq(image[..., :2]), ValueError),
        (lambda: tf.image.stateless_random_hue(image, 0.7, (1, 2)), ValueError),
        (lambda: tf.image.stateless_random_crop(image, (2, 1, 1, 1), (1, 2)),
         tf.errors.InvalidArgumentError),
        (lambda: tf.image.non_max_suppression([[0.0] * 3], [1.0], 1),
         tf.errors.InvalidArgumentError),
        (lambda: tf.image.non_max_suppression([[0.0] * 4], [1.0], -1),
         tf.errors.InvalidArgumentError),
        (lambda: tf.image.non_max_suppression([[0.0] * 4], [1.0], 1, 1.5),
         tf.errors.InvalidArgumentError),
        (lambda: tf.image.draw_bounding_boxes(image, tf.zeros((2, 1, 4)), None),
         tf.errors.InvalidArgumentError),
    ):  # fmt: skip
        with pytest.raises(kind):
            call()
