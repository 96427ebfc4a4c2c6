"""Convolutions and poolings of tf.nn against plain NumPy sums."""

import itertools

import numpy as np
import pytest
from arrays import assert_close, sample

import tidemark as tf


def padded(x, window, strides, padding, dilations, fill=0.0):
    """The image [n, spatial..., c] with its padding, and the number of windows."""
    pads, outs = [], []
    for size, k, s, d in zip(x.shape[1:-1], window, strides, dilations, strict=True):
        extent = (k - 1) * d + 1
        if padding == "SAME":
            out = -(-size // s)
            total = max(0, (out - 1) * s + extent - size)
            pads.append((total // 2, total - total // 2))
        else:
            pads.append((0, 0))
            out = (size - extent) // s + 1
        outs.append(out)
    return np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=fill), outs


def windows(x, window, strides, padding, dilations, fill=0.0):
    """Yields (window position, image elements there for every output)."""
    image, outs = padded(x, window, strides, padding, dilations, fill)
    for at in itertools.product(*(range(k) for k in window)):
        index = tuple(
            slice(i * d, i * d + (o - 1) * s + 1, s)
            for i, d, o, s in zip(at, dilations, outs, strides, strict=True)
        )
        yield at, image[(slice(None), *index)]


def conv(x, w, strides, padding, dilations):
    return sum(part @ w[at] for at, part in windows(x, w.shape[:-2], strides, padding, dilations))


CASES = [
    ((2, 9, 8, 3), (3, 3, 3, 5), (1, 1), "SAME", (1, 1)),
    ((2, 9, 8, 3), (3, 2, 3, 5), (2, 3), "VALID", (1, 1)),
    ((2, 9, 8, 4), (2, 3, 4, 5), (1, 1), "SAME", (2, 3)),
    ((3, 20, 4), (5, 4, 6), (2,), "SAME", (1,)),
    ((2, 5, 6, 7, 3), (2, 3, 2, 3, 4), (1, 2, 1), "VALID", (1, 1, 1)),
    ((1, 30, 30, 16), (3, 3, 16, 32), (1, 1), "SAME", (1, 1)),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_convolution(case, dtype):
    shape, window, strides, padding, dilations = case
    x, w = sample(dtype, shape, 1), sample(dtype, window, 2)
    expected = conv(x.astype("float64"), w.astype("float64"), strides, padding, dilations)
    limit = 1e-5 if dtype == "float32" else 1e-12
    ours = tf.nn.convolution(x, w, strides, padding, dilations=dilations)
    assert_close(ours, expected.astype(dtype), rtol=limit, atol=100 * limit)
    letters = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[len(strides)]
    first = np.moveaxis(x, -1, 1).copy()
    ours = tf.nn.convolution(first, w, strides, padding, letters, dilations)
    expected = np.moveaxis(expected, -1, 1).astype(dtype)
    assert_close(ours, expected, rtol=limit, atol=100 * limit)


def test_named_convolutions_take_strides_in_each_form():
    x, w = sample("float32", (2, 8, 8, 3), 1), sample("float32", (3, 3, 3, 4), 2)
    expected = tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME").numpy()
    for strides in (2, [2], [2, 2]):
        assert_close(tf.nn.conv2d(x, w, strides, "SAME"), expected)
    pads = [[0, 0], [1, 0], [0, 2], [0, 0]]
    wide = np.pad(x, pads)
    explicit = tf.nn.conv2d(x, w, 1, pads)
    assert_close(explicit, tf.nn.conv2d(wide, w, 1, "VALID").numpy(), rtol=1e-5, atol=1e-5)
    line = sample("float32", (2, 9, 3), 1)
    assert tf.nn.conv1d(line, w[0], 2, "SAME").shape == (2, 5, 4)
    assert tf.nn.conv3d(x[:, None], w[None], [1] * 5, "SAME").shape == (2, 1, 8, 8, 4)
    assert tf.nn.conv2d(x[None], w, 1, "SAME").shape == (1, 2, 8, 8, 4)
    atrous = tf.nn.atrous_conv2d(x, w, 2, "SAME")
    assert_close(atrous, tf.nn.conv2d(x, w, 1, "SAME", dilations=2).numpy())


def test_depthwise_and_separable():
    x, w = sample("float32", (2, 7, 6, 5), 1), sample("float32", (3, 3, 5, 2), 2)
    parts = [conv(x[..., c : c + 1], w[:, :, c : c + 1], (1, 1), "SAME", (1, 1)) for c in range(5)]
    expected = np.concatenate(parts, -1)
    ours = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")
    assert_close(ours, expected, rtol=1e-5, atol=1e-4)
    point = sample("float32", (1, 1, 10, 3), 3)
    both = tf.nn.separable_conv2d(x, w, point, [1, 1, 1, 1], "SAME")
    assert_close(both, expected @ point[0, 0], rtol=1e-4, atol=1e-4)
    dy = sample("float32", (2, 7, 6, 10), 4)
    dx = tf.nn.depthwise_conv2d_backprop_input(x.shape, w, dy, [1, 1, 1, 1], "SAME").numpy()
    dw = tf.nn.depthwise_conv2d_backprop_filter(x, w.shape, dy, [1, 1, 1, 1], "SAME").numpy()
    # Both are adjoint to the convolution, which is linear in each.
    product = float((expected.astype("float64") * dy).sum())
    np.testing.assert_allclose((dx.astype("float64") * x).sum(), product, rtol=1e-4)
    np.testing.assert_allclose((dw.astype("float64") * w).sum(), product, rtol=1e-4)


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_transposed_is_adjoint(spatial):
    sizes = (7, 6, 5)[:spatial]
    w = sample("float64", (3, 2, 3)[:spatial] + (4, 2), 2)
    x = sample("float64", (2, *sizes, 4), 1)
    y = tf.nn.convolution(x, w, 2, "SAME").numpy()
    dy = sample("float64", y.shape, 3)
    name = f"conv{spatial}d_transpose"
    back = getattr(tf.nn, name)(dy, w, x.shape, 2, "SAME")
    np.testing.assert_allclose((back.numpy() * x).sum(), (y * dy).sum(), rtol=1e-10)
    assert_close(tf.nn.conv_transpose(dy, w, x.shape, 2), back.numpy())


def test_refusals():
    x, w = sample("float32", (1, 2, 2, 3)), sample("float32", (3, 3, 3, 4))
    with pytest.raises(tf.errors.InvalidArgumentError, match="would be negative"):
        tf.nn.conv2d(x, w, 1, "VALID")
    with pytest.raises(ValueError, match="padding"):
        tf.nn.conv2d(x, w, 1, "FULL")
    with pytest.raises(ValueError, match="length"):
        tf.nn.conv2d(x, w, [1, 1, 1], "SAME")
    with pytest.raises(ValueError, match="data_format"):
        tf.nn.conv2d(x, w, 1, "SAME", data_format="HWC")
    with pytest.raises(tf.errors.InvalidArgumentError, match="evenly divisible"):
        tf.nn.conv2d(x[..., :2], w, 1, "SAME")


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_pooling(padding, dtype):
    x = sample(dtype, (2, 7, 6, 5), 1)
    low = np.iinfo("int32").min if dtype == "int32" else -np.inf
    parts = [p for _, p in windows(x, (3, 2), (2, 2), padding, (1, 1), low)]
    assert_close(tf.nn.max_pool2d(x, (3, 2), 2, padding), np.max(parts, 0))
    first = tf.nn.max_pool(np.moveaxis(x, -1, 1).copy(), (3, 2), 2, padding, "NCHW")
    assert_close(first, np.moveaxis(np.max(parts, 0), -1, 1))
    if dtype == "int32":
        return
    wide = x.astype("float64")
    total = sum(p for _, p in windows(wide, (3, 2), (2, 2), padding, (1, 1)))
    count = sum(p for _, p in windows(np.ones_like(wide), (3, 2), (2, 2), padding, (1, 1)))
    ours = tf.nn.avg_pool2d(x, (3, 2), 2, padding)
    assert_close(ours, (total / count).astype(dtype), rtol=2e-3 if dtype == "float16" else 1e-5)


def test_poolings_of_other_ranks_and_argmax():
    x = sample("float32", (2, 8, 6), 1)
    assert_close(tf.nn.max_pool1d(x, 2, 2, "VALID"), x.reshape(2, 4, 2, 6).max(2))
    mean = x.reshape(2, 4, 2, 6).mean(2)
    assert_close(tf.nn.avg_pool1d(x, 2, 2, "VALID"), mean, rtol=1e-5)
    assert_close(tf.nn.pool(x, [2], "AVG", [2]), mean, rtol=1e-5)
    cube = sample("float32", (1, 4, 4, 4, 3), 2)
    blocks = cube.reshape(1, 2, 2, 2, 2, 2, 2, 3)
    assert_close(tf.nn.max_pool3d(cube, 2, 2, "VALID"), blocks.max((2, 4, 6)))
    assert_close(tf.nn.avg_pool3d(cube, 2, 2, "VALID"), blocks.mean((2, 4, 6)), rtol=1e-5)
    image = sample("float32", (2, 4, 4, 3), 3)
    y, where = tf.nn.max_pool_with_argmax(image, 2, 2, "VALID", include_batch_in_index=True)
    np.testing.assert_array_equal(image.reshape(-1)[where.numpy()], y.numpy())
    _, inside = tf.nn.max_pool_with_argmax(image, 2, 2, "VALID", output_dtype=tf.int32)
    assert inside.dtype == tf.int32 and int(tf.reduce_max(inside)) < 48
    with pytest.raises(ValueError, match="pooling_type"):
        tf.nn.pool(x, [2], "MIN")
