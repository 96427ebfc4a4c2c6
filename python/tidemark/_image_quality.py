"""How alike images are, their edges, and further colour spaces."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._creation import convert_to_tensor
from tidemark._export import export
from tidemark._image_color import convert_image_dtype
from tidemark._static import is_number, must_differ, sizes_of
from tidemark._tidemark import call

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
    from tidemark import nn

    *lead, height, width, channels = sizes_of(images)
    kernel = call("tile", (kernel, [1, 1, channels, 1]), {})
    flat = call("reshape", (images, [-1, height, width, channels]), {})
    out = nn.depthwise_conv2d(flat, kernel, strides=[1, 1, 1, 1], padding="VALID")
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
        from tidemark.errors import InvalidArgumentError

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
    from tidemark import nn

    out = nn.avg_pool2d(flat, ksize=2, strides=2, padding="VALID")
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
    from tidemark import nn

    image = convert_to_tensor(image)
    down = [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]
    right = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]
    kernels = [[[[float(down[y][x]), float(right[y][x])]] for x in range(3)] for y in range(3)]
    kernel = convert_to_tensor(kernels, dtype=image.dtype)
    kernel = call("tile", (kernel, [1, 1, sizes_of(image)[-1], 1]), {})
    padded = _mirrored(image, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    edges = nn.depthwise_conv2d(padded, kernel, strides=[1, 1, 1, 1], padding="VALID")
    return call("reshape", (edges, [*sizes_of(image), 2]), {})


# --- colour spaces: three channels times a matrix -------------------------------------------------

_MATRICES = {
    "rgb_to_yiq": [
        [0.299, 0.59590059, 0.2115],
        [0.587, -0.27455667, -0.52273617],
        [0.114, -0.32134392, 0.31119955],
    ],
    "yiq_to_rgb": [
        [1, 1, 1],
        [0.95598634, -0.27201283, -1.10674021],
        [0.6208248, -0.64720424, 1.70423049],
    ],
    "rgb_to_yuv": [
        [0.299, -0.14714119, 0.61497538],
        [0.587, -0.28886916, -0.51496512],
        [0.114, 0.43601035, -0.10001026],
    ],
    "yuv_to_rgb": [
        [1, 1, 1],
        [0, -0.394642334, 2.03206185],
        [1.13988303, -0.58062185, 0],
    ],
}


def _converted(images, name):
    images = convert_to_tensor(images)
    if images.ndim < 1 or must_differ(images.shape[-1], 3):
        raise ValueError(f"[{name}] images must have 3 channels, got shape {images.shape}")
    matrix = convert_to_tensor(_MATRICES[name], dtype=images.dtype)
    flat = call("reshape", (images, [-1, 3]), {})
    return call("reshape", (flat @ matrix, [*sizes_of(images)[:-1], 3]), {})


@export("tf.image.rgb_to_yiq")
def rgb_to_yiq(images):
    """From red, green, blue to brightness and two colour axes (NTSC)."""
    return _converted(images, "rgb_to_yiq")


@export("tf.image.yiq_to_rgb")
def yiq_to_rgb(images):
    """Back from rgb_to_yiq."""
    return _converted(images, "yiq_to_rgb")


@export("tf.image.rgb_to_yuv")
def rgb_to_yuv(images):
    """From red, green, blue to brightness and two colour axes (PAL)."""
    return _converted(images, "rgb_to_yuv")


@export("tf.image.yuv_to_rgb")
def yuv_to_rgb(images):
    """Back from rgb_to_yuv."""
    return _converted(images, "yuv_to_rgb")
