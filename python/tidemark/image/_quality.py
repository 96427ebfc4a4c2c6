"""How alike and how smooth images are, and where their edges lie."""

from __future__ import annotations

import tidemark
from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import is_number, sizes_of
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError
from tidemark.image._color import _like, convert_image_dtype

_MSSSIM_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _gaussian(size, sigma):
    """A window of weights that fall off from its middle."""
    places = call("cast", (call("range", (0, size, 1), {}),), {"dtype": dtypes.float32})
    places = places - (size - 1) / 2.0
    falling = places * places * (-0.5 / (sigma * sigma))
    grid = call("reshape", (falling, [1, -1]), {}) + call("reshape", (falling, [-1, 1]), {})
    weights = call("softmax", (call("reshape", (grid, [1, -1]), {}),), {})
    return call("reshape", (weights, [size, size, 1, 1]), {})


def _filtered(images, kernel):
    """Each channel convolved with the kernel, without padding."""
    *lead, height, width, channels = sizes_of(images)
    kernel = call("tile", (kernel, [1, 1, channels, 1]), {})
    flat = call("reshape", (images, [-1, height, width, channels]), {})
    out = tidemark.nn.depthwise_conv2d(flat, kernel, strides=[1, 1, 1, 1], padding="VALID")
    return call("reshape", (out, [*lead, *sizes_of(out)[1:]]), {})


def _mirrored(images, paddings, mode):
    return call("pad", (images, paddings, convert_to_tensor(0, images.dtype)), {"mode": mode})


def _mean(x, axis):
    return call("mean", (x,), {"axis": axis})


def _ssim_maps(first, second, max_val, size, sigma, k1, k2):
    """Likeness of brightness and contrast together, and of contrast alone, at each place."""
    kernel = _gaussian(size, sigma)
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean0, mean1 = _filtered(first, kernel), _filtered(second, kernel)
    both = mean0 * mean1 * 2.0
    squares = mean0 * mean0 + mean1 * mean1
    luminance = (both + c1) / (squares + c1)
    products = _filtered(first * second, kernel) * 2.0
    all_squares = _filtered(first * first + second * second, kernel)
    contrast = (products - both + c2) / (all_squares - squares + c2)
    return luminance * contrast, contrast


def _compared(img1, img2, max_val, size, name):
    """Both images and the largest value in float32, checked."""
    img1, img2 = convert_to_tensor(img1), convert_to_tensor(img2)
    if img1.ndim < 3 or img2.ndim < 3:
        raise ValueError(f"[{name}] images must have at least 3 dimensions, got {img1.shape}")
    if not img1.shape[-3:].is_compatible_with(img2.shape[-3:]):
        raise ValueError(f"[{name}] images differ in shape: {img1.shape} and {img2.shape}")
    if any(n is not None and n < size for n in img1.shape[-3:-1]):
        raise InvalidArgumentError(
            None,
            None,
            f"[{name}] images of {img1.shape[-3]} x {img1.shape[-2]} are smaller than the filter, "
            f"{size} x {size}",
        )
    largest = convert_to_tensor(max_val, dtype=img1.dtype)
    return [convert_image_dtype(value, dtypes.float32) for value in (img1, img2, largest)]


@export("tf.image.ssim")
def ssim(
    img1,
    img2,
    max_val,
    filter_size=11,
    filter_sigma=1.5,
    k1=0.01,
    k2=0.03,
    return_index_map=False,
):
    """Structural similarity of images: 1 for the same, lower for less alike."""
    first, second, largest = _compared(img1, img2, max_val, filter_size, "ssim")
    maps, _ = _ssim_maps(first, second, largest, filter_size, filter_sigma, k1, k2)
    if return_index_map:
        return _mean(maps, [-1])
    return _mean(_mean(maps, [-3, -2]), [-1])


def _halved(images):
    """Images of half the size, odd ones with their last row or column twice."""
    *lead, height, width, channels = sizes_of(images)
    flat = call("reshape", (images, [-1, height, width, channels]), {})
    odd = [height % 2, width % 2]
    if not all(is_number(n) and n == 0 for n in odd):
        flat = _mirrored(flat, [[0, 0], [0, odd[0]], [0, odd[1]], [0, 0]], "SYMMETRIC")
    out = tidemark.nn.avg_pool2d(flat, ksize=2, strides=2, padding="VALID")
    return call("reshape", (out, [*lead, *sizes_of(out)[1:]]), {})


@export("tf.image.ssim_multiscale")
def ssim_multiscale(
    img1,
    img2,
    max_val,
    power_factors=_MSSSIM_WEIGHTS,
    filter_size=11,
    filter_sigma=1.5,
    k1=0.01,
    k2=0.03,
):
    """Structural similarity over several sizes of the images."""
    first, second, largest = _compared(img1, img2, max_val, filter_size, "ssim_multiscale")
    parts = []
    for scale in range(len(power_factors)):
        if scale > 0:
            first, second = _halved(first), _halved(second)
            _compared(first, second, 1.0, filter_size, "ssim_multiscale")
        maps, contrast = _ssim_maps(first, second, largest, filter_size, filter_sigma, k1, k2)
        is_last = scale == len(power_factors) - 1
        part = _mean(maps if is_last else contrast, [-3, -2])
        parts.append(call("relu", (part,), {}))
    stacked = call("stack", tuple(parts), {"axis": -1})
    powers = call("pow", (stacked, convert_to_tensor(list(power_factors), dtypes.float32)), {})
    return _mean(call("prod", (powers,), {"axis": [-1]}), [-1])


@export("tf.image.sobel_edges")
def sobel_edges(image):
    """How fast each channel changes downwards and to the right, along a new last dimension."""
    image = convert_to_tensor(image)
    down = [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]
    right = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]
    kernels = [[[[float(down[y][x]), float(right[y][x])]] for x in range(3)] for y in range(3)]
    kernel = convert_to_tensor(kernels, dtype=image.dtype)
    kernel = call("tile", (kernel, [1, 1, sizes_of(image)[-1], 1]), {})
    padded = _mirrored(image, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    edges = tidemark.nn.depthwise_conv2d(padded, kernel, strides=[1, 1, 1, 1], padding="VALID")
    return call("reshape", (edges, [*sizes_of(image), 2]), {})


# --- differences between neighbouring pixels, and between images ----------------------------------


def _sum_of_steps(images, axis):
    size = sizes_of(images)[axis]
    begin, end = [0] * images.ndim, [-1] * images.ndim
    shifted = begin.copy()
    shifted[axis], end[axis] = 1, size - 1
    step = call("slice", (images, shifted, end), {}) - call("slice", (images, begin, end), {})
    return call("abs", (step,), {})


@export("tf.image.total_variation")
def total_variation(images, name=None):
    """The sum of differences between neighbouring pixels."""
    images = convert_to_tensor(images)
    if images.ndim not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    first = images.ndim - 3
    axes = {"axis": [first, first + 1, first + 2]}
    down, across = (_sum_of_steps(images, first + i) for i in (0, 1))
    return call("sum", (down,), axes) + call("sum", (across,), axes)


@export("tf.image.psnr")
def psnr(a, b, max_val, name=None):
    """Peak signal-to-noise ratio of image pairs, in decibels."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    scale = convert_image_dtype(convert_to_tensor(max_val, dtype=a.dtype), dtypes.float32)
    a, b = (convert_image_dtype(x, dtypes.float32) for x in (a, b))
    error = call("mean", (call("squared_difference", (a, b), {}),), {"axis": [-3, -2, -1]})
    log = call("log", (scale,), {}) * 20.0 - call("log", (error,), {}) * 10.0
    return log * (1.0 / 2.302585092994046)


@export("tf.image.image_gradients")
def image_gradients(image):
    """Differences to the next pixel down and across; zero at the last."""
    image = convert_to_tensor(image)
    if image.ndim != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [b, h, w, d], not {image.shape}")

    def step(axis):
        size = sizes_of(image)[axis]
        begin, length = [0] * 4, [-1] * 4
        shifted = begin.copy()
        shifted[axis], length[axis] = 1, size - 1
        change = call("slice", (image, shifted, length), {}) - call(
            "slice", (image, begin, length), {}
        )
        pads = [[0, 1 if a == axis else 0] for a in range(4)]
        return call("pad", (change, pads, _like(0, image)), {})

    return step(1), step(2)
