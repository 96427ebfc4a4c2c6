"""tf.image against what TensorFlow 2.21 gave for the same images."""

import json
from pathlib import Path

import numpy as np
import pytest
from arrays import assert_close, sample

import tidemark as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "tf_images.json").read_text())
IMAGES = (np.arange(2 * 5 * 4 * 2).reshape(2, 5, 4, 2) * 37 % 101 / 101).astype("float32")
COLORS = (np.arange(3 * 4 * 3).reshape(3, 4, 3) * 29 % 97 / 97).astype("float32")
BYTES = (COLORS * 255).astype("uint8")
METHODS = [
    "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", [[3, 7], [9, 2]])
def test_resize(method, antialias, size):
    got = tf.image.resize(IMAGES, size, method=method, antialias=antialias)
    assert got.shape == (2, *size, 2) and got.dtype == tf.float32
    # TensorFlow's bicubic without antialias reads its weights from a table of 1024 entries.
    atol = 2e-3 if method == "bicubic" and not antialias else 2e-5
    expected = RECORDED[f"{method} {antialias} {size}"]
    np.testing.assert_allclose(got.numpy()[1, :, :, 0].ravel(), expected, atol=atol)


FUNCTIONS = {
    "hsv": tf.image.rgb_to_hsv,
    "yuv": tf.image.rgb_to_yuv,
    "yiq": tf.image.rgb_to_yiq,
    "gray": tf.image.rgb_to_grayscale,
    "std": tf.image.per_image_standardization,
    "hue": lambda t: tf.image.adjust_hue(t, 0.2),
    "sat": lambda t: tf.image.adjust_saturation(t, 1.7),
    "contrast": lambda t: tf.image.adjust_contrast(t, 1.7),
    "bright": lambda t: tf.image.adjust_brightness(t, 0.2),
    "gamma": lambda t: tf.image.adjust_gamma(t, 1.3, 0.9),
    "tv": tf.image.total_variation,
    "crop": lambda t: tf.image.central_crop(t, 0.5),
    "pad": lambda t: tf.image.resize_with_crop_or_pad(t, 5, 2),
    "rpad": lambda t: tf.image.resize_with_pad(t, 6, 5),
    "car": lambda t: tf.image.crop_and_resize(
        t[None], [[0.1, 0.2, 0.9, 1.3], [0.0, 0.0, 1.0, 1.0]], [0, 0], [3, 2]
    ),
    "patches": lambda t: tf.image.extract_patches(
        t[None], [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], "SAME"
    ),
    "psnr": lambda t: tf.image.psnr(t, t * 0.9, 1.0),
}
OF_BYTES = {
    "ubright": lambda t: tf.image.adjust_brightness(t, 0.2),
    "ucontrast": lambda t: tf.image.adjust_contrast(t, 1.7),
    "ugray": tf.image.rgb_to_grayscale,
    "uhue": lambda t: tf.image.adjust_hue(t, 0.2),
    "ugamma": lambda t: tf.image.adjust_gamma(t, 1.3),
    "u16": lambda t: tf.image.convert_image_dtype(t, tf.uint16),
    "uf": lambda t: tf.image.convert_image_dtype(t, tf.float32),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_tensorflow(name):
    shape, values = RECORDED[name]
    got = FUNCTIONS[name](tf.constant(COLORS))
    assert list(got.shape) == shape
    np.testing.assert_allclose(got.numpy().ravel(), values, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", OF_BYTES)
def test_bytes_as_tensorflow(name):
    shape, values = RECORDED[name]
    got = OF_BYTES[name](tf.constant(BYTES)).numpy().astype("float64")
    assert list(got.shape) == shape
    np.testing.assert_allclose(got.ravel(), values, atol=1 if got.max() > 1 else 1e-6)


def test_colour_spaces_and_back():
    for there, back in (
        (tf.image.rgb_to_hsv, tf.image.hsv_to_rgb),
        (tf.image.rgb_to_yuv, tf.image.yuv_to_rgb),
        (tf.image.rgb_to_yiq, tf.image.yiq_to_rgb),
    ):
        np.testing.assert_allclose(back(there(COLORS)).numpy(), COLORS, atol=1e-4)
    black = tf.image.rgb_to_hsv(np.zeros((1, 1, 3), "float32"))
    assert black.numpy().tolist() == [[[0, 0, 0]]]
    gray = tf.image.rgb_to_grayscale(BYTES)
    assert gray.dtype == tf.uint8 and tf.image.grayscale_to_rgb(gray).shape == (3, 4, 3)


def test_turning():
    x = sample("int32", (2, 3, 4, 2))
    assert_close(tf.image.flip_left_right(x), x[:, :, ::-1])
    assert_close(tf.image.flip_up_down(x[0]), x[0][::-1])
    assert_close(tf.image.transpose(x), x.transpose(0, 2, 1, 3))
    for k in range(-1, 5):
        assert_close(tf.image.rot90(x[1], k), np.rot90(x[1], k))


def test_cutting():
    x = sample("float32", (2, 5, 6, 1))
    assert_close(tf.image.crop_to_bounding_box(x, 1, 2, 3, 4), x[:, 1:4, 2:6])
    padded = np.pad(x, [(0, 0), (1, 2), (2, 0), (0, 0)])
    assert_close(tf.image.pad_to_bounding_box(x, 1, 2, 8, 8), padded)
    with pytest.raises(ValueError, match="width must be >= target"):
        tf.image.crop_to_bounding_box(x, 0, 5, 2, 2)
    with pytest.raises(ValueError, match="height must be <= target"):
        tf.image.pad_to_bounding_box(x, 4, 0, 6, 6)
    with pytest.raises(ValueError, match="central_fraction"):
        tf.image.central_crop(x, 0.0)


def test_resize_details():
    x = sample("uint8", (4, 4, 3))
    assert tf.image.resize(x, [2, 2], method="nearest").dtype == tf.uint8
    assert tf.image.resize(x, [2, 2]).dtype == tf.float32
    assert tf.image.resize(x, [4, 4]).dtype == tf.float32
    assert tf.image.resize(x, [8, 2], preserve_aspect_ratio=True).shape == (2, 2, 3)
    assert tf.image.resize(np.zeros((0, 4, 4, 1)), [2, 2]).shape == (0, 2, 2, 1)
    assert np.isnan(tf.image.resize(np.full((1, 2, 2, 1), np.nan), [3, 3]).numpy()).all()
    with pytest.raises(ValueError, match="not implemented: foo"):
        tf.image.resize(x, [2, 2], method="foo")
    with pytest.raises(ValueError, match="2 elements"):
        tf.image.resize(x, [2, 2, 2])
    with pytest.raises(ValueError, match="images must have shape"):
        tf.image.resize(x[0], [2, 2])
    for method in ("bilinear", "nearest"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="non-zero size"):
            tf.image.resize(np.zeros((1, 0, 4, 1)), [2, 2], method=method)
    constant = tf.image.resize(np.ones((1, 5, 7, 2)), [3, 9], method="lanczos5", antialias=True)
    np.testing.assert_allclose(constant.numpy(), 1, atol=1e-6)


def test_patches_valid():
    x = sample("float32", (1, 5, 6, 2))
    got = tf.image.extract_patches(x, [1, 2, 3, 1], [1, 2, 2, 1], [1, 2, 1, 1], "VALID").numpy()
    assert got.shape == (1, 2, 2, 12)
    np.testing.assert_array_equal(got[0, 1, 1], x[0, 2:5:2, 2:5].ravel())
    with pytest.raises(ValueError, match="sizes"):
        tf.image.extract_patches(x, [2, 2], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")


def test_at_random():
    x = tf.constant(COLORS)
    for function in (
        lambda: tf.image.random_brightness(x, 0.3),
        lambda: tf.image.random_contrast(x, 0.5, 1.5),
        lambda: tf.image.random_hue(x, 0.3),
        lambda: tf.image.random_saturation(x, 0.5, 1.5),
    ):
        tf.random.set_seed(1)
        one, other = function().numpy(), function().numpy()
        tf.random.set_seed(1)
        np.testing.assert_array_equal(function().numpy(), one)
        assert (one != other).any()
    flipped = tf.image.random_flip_left_right(tf.stack([x] * 64)).numpy()
    ways = {bytes(image) for image in flipped}
    assert ways == {bytes(COLORS), bytes(np.ascontiguousarray(COLORS[:, ::-1]))}
    with pytest.raises(ValueError, match="max_delta"):
        tf.image.random_hue(x, 0.7)
