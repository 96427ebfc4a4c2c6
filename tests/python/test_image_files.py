"""Image files: TensorFlow 2.21's pixels for each of them, and what damaged files do."""

import base64
import contextlib
import hashlib
import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidemark as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "tf_image_files.json").read_text())
ALLOWED = (tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)
FILES = {name: base64.b64decode(data) for name, data in RECORDED["files"].items()}


@pytest.mark.parametrize(("name", "expression", "expected"), RECORDED["cases"])
def test_as_tensorflow(name, expression, expected):
    try:
        result = eval(expression, {"tf": tf, "f": FILES[name]}).numpy()
    except Exception as error:
        assert type(error).__name__ == expected
        return
    digest = hashlib.sha1(np.ascontiguousarray(result).tobytes()).hexdigest()
    assert [str(result.dtype), list(result.shape)] == expected[:2]
    assert digest == expected[2]


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_png_there_and_back(channels, dtype):
    rng = np.random.default_rng(channels)
    image = rng.integers(0, np.iinfo(dtype).max, (2, 7, 5, channels)).astype(dtype)
    files = tf.io.encode_png(image)
    assert files.shape == (2,)
    for i in range(2):
        again = tf.io.decode_png(files[i], dtype=tf.as_dtype(dtype)).numpy()
        np.testing.assert_array_equal(again, image[i])


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"chroma_downsampling": False},
                                     {"optimize_size": True, "quality": 100, "density_unit": "cm"},
                                     {"xmp_metadata": "x" * 100}])  # fmt: skip
def test_jpeg_there_and_back(options):
    y, x = np.mgrid[0:40, 0:56]
    image = np.stack([y * 4, x * 4, 255 - y * 2 - x * 2], -1).clip(0, 255).astype(np.uint8)
    data = tf.io.encode_jpeg(image, **options)
    again = tf.io.decode_jpeg(data).numpy()
    assert np.abs(again.astype(int) - image).mean() < 4
    assert list(tf.io.extract_jpeg_shape(data).numpy()) == [40, 56, 3]


def test_noise_fits_the_bound():
    """What cannot be compressed is larger than its pixels."""
    rng = np.random.default_rng(0)
    for shape in ((1, 1, 1), (3, 200, 3), (100, 33, 4)):
        image = rng.integers(0, 256, shape, dtype=np.uint8)
        for level in (0, 1, 9):
            data = tf.io.encode_png(image, compression=level)
            np.testing.assert_array_equal(tf.io.decode_png(data).numpy(), image)
    noise = rng.integers(0, 256, (65, 65, 3), dtype=np.uint8)
    tf.io.encode_jpeg(noise, quality=100, chroma_downsampling=False)


def test_jpeg_quality():
    image = np.linspace(0, 255, 32 * 32 * 3).reshape(32, 32, 3).astype(np.uint8)
    worse = tf.image.adjust_jpeg_quality(image, 5)
    assert worse.dtype == tf.uint8 and (worse.numpy() != image).any()
    floats = tf.image.adjust_jpeg_quality(image.astype(np.float32) / 255, 95)
    assert floats.dtype == tf.float32 and floats.numpy().max() <= 1.0
    drawn = tf.image.stateless_random_jpeg_quality(image, 5, 50, seed=(1, 2))
    assert drawn.shape == image.shape
    with pytest.raises(ValueError, match="less than"):
        tf.image.random_jpeg_quality(image, 50, 50)


def test_declared_sizes():
    """A small file that says it is huge: an error, and nothing kept."""

    def png(width, height):
        head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        parts = b"\x89PNG\r\n\x1a\n"
        for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b"")):
            parts += struct.pack(">I", len(data)) + kind + data
            parts += struct.pack(">I", zlib.crc32(kind + data))
        return parts

    before = tf.memory.stats()["live"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="pixels"):
        tf.io.decode_png(png(1 << 30, 1 << 30))
    with tf.memory.limit("4 MiB"), pytest.raises(tf.errors.ResourceExhaustedError):
        tf.io.decode_png(png(2000, 2000))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid PNG data"):
        tf.io.decode_png(png(1000, 1000))
    assert tf.memory.stats()["live"] == before


@given(st.sampled_from(sorted(FILES)), st.data())
def test_damaged_files(name, data):
    """Pixels or InvalidArgumentError, whatever the bytes."""
    file = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(file) - 1))
        file[at] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del file[data.draw(st.integers(0, len(file) - 1)) :]
    with tf.memory.limit("256 MiB"):
        for arguments in ({}, {"channels": 3}, {"expand_animations": False}):
            with contextlib.suppress(*ALLOWED):
                tf.io.decode_image(bytes(file), **arguments)


def tiny_gif(width, height):
    """43 bytes: one frame of one pixel on a canvas of any size."""
    return (
        b"GIF89a" + struct.pack("<HH", width, height) + b"\x80\0\0" + b"\0\0\0\xff\xff\xff"
        + b"!\xf9\4\1\0\0\0\0" + b",\0\0\0\0\1\0\1\0\0" + b"\2\2D\1\0;"
    )  # fmt: skip


def test_a_few_bytes_do_not_claim_gigabytes(monkeypatch):
    assert tf.io.decode_gif(tiny_gif(2000, 2000)).shape == [1, 2000, 2000, 3]
    huge = tiny_gif(65535, 3900)
    assert len(huge) == 43
    before = tf.memory.stats().peak
    with pytest.raises(tf.errors.InvalidArgumentError, match="43 bytes claims.*TIDEMARK_IMAGE"):
        tf.io.decode_gif(huge)
    assert tf.memory.stats().peak == before
    png = bytearray(tf.io.encode_png(np.zeros((1, 1, 1), np.uint8)).numpy())
    png[16:24] = struct.pack(">II", 20000, 20000)
    with pytest.raises(tf.errors.InvalidArgumentError, match="claims"):
        tf.io.decode_png(bytes(png))
    thin = tf.io.encode_png(np.zeros((4000, 4000, 1), np.uint8)).numpy()  # 16 million in a few KB
    assert tf.io.decode_png(thin).shape == [4000, 4000, 1]
    monkeypatch.setenv("TIDEMARK_IMAGE_RATIO", "0")
    assert tf.io.decode_gif(tiny_gif(3000, 3000)).shape == [1, 3000, 3000, 3]


def test_bad_arguments():
    png = FILES["png8_3"]
    for call in (
        lambda: tf.io.decode_png(png, channels=5),
        lambda: tf.io.decode_png([png]),
        lambda: tf.io.decode_jpeg(FILES["jpeg_rgb"], ratio=3),
        lambda: tf.io.decode_jpeg(FILES["jpeg_rgb"], dct_method="x"),
        lambda: tf.io.encode_png(np.zeros((2, 2, 5), np.uint8)),
        lambda: tf.io.encode_png(np.zeros((0, 2, 3), np.uint8)),
        lambda: tf.io.encode_png(np.zeros((2, 2, 3), np.uint8), compression=10),
        lambda: tf.io.encode_jpeg(np.zeros((2, 2, 3), np.uint8), quality=101),
        lambda: tf.io.encode_jpeg(np.zeros((2, 2, 4), np.uint8)),
        lambda: tf.io.encode_jpeg(np.zeros((2, 2, 3), np.uint8), format="grayscale"),
        lambda: tf.io.extract_jpeg_shape(png),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call()
