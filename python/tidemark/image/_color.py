"""Colours of images: types of pixels, colour spaces, adjustments, standardisation."""

from __future__ import annotations

import math as _math

from tidemark import dtypes
from tidemark._export import dispatching, export
from tidemark._tensor.arrays import ensure_shape
from tidemark._tensor.creation import cast, convert_to_tensor, saturate_cast
from tidemark._tensor.static import larger, must_differ, sizes_of
from tidemark._tidemark import call
from tidemark.dtypes import as_dtype
from tidemark.errors import InvalidArgumentError


def _floating(images, name, channels=3):
    images = convert_to_tensor(images)
    if not images.dtype.is_floating:
        images = cast(images, dtypes.float32)
    if channels and (images.ndim == 0 or must_differ(images.shape[-1], channels)):
        raise InvalidArgumentError(
            None, None, f"[{name}] input must have {channels} channels but got {images.shape}"
        )
    return with_channels(images, channels) if channels else images


def with_channels(images, channels):
    """The images, of which the run checks that they have so many channels if nobody knows yet."""
    if images.shape.rank is None or images.shape[-1] is not None:
        return images
    return ensure_shape(images, [*images.shape.as_list()[:-1], channels])


def _like(value, tensor):
    return convert_to_tensor(value, dtype=tensor.dtype)


@export("tf.image.convert_image_dtype")
@dispatching
def convert_image_dtype(image, dtype, saturate=False, name=None):
    """The image in another type; floating point values stand for 0 to 1."""
    image, dtype = convert_to_tensor(image), as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    if image.dtype == dtype:
        return image
    convert = saturate_cast if saturate else cast
    if image.dtype.is_integer and dtype.is_integer:
        if image.dtype.max < dtype.max:
            up = (dtype.max + 1) // (image.dtype.max + 1)
            return cast(image, dtype) * _like_dtype(up, dtype)
        down = (image.dtype.max + 1) // (dtype.max + 1)
        return convert(call("floordiv", (image, _like(down, image)), {}), dtype)
    if image.dtype.is_floating and dtype.is_floating:
        return cast(image, dtype)
    if image.dtype.is_integer:
        return cast(image, dtype) * _like_dtype(1.0 / image.dtype.max, dtype)
    scaled = image * _like(dtype.max + 0.5, image)
    return convert(scaled, dtype)


def _like_dtype(value, dtype):
    return convert_to_tensor(value, dtype=dtype)


# --- colour spaces --------------------------------------------------------------------------------


@export("tf.image.rgb_to_grayscale")
def rgb_to_grayscale(images, name=None):
    """Brightness as the eye sees it."""
    original = convert_to_tensor(images)
    if original.ndim < 1 or must_differ(original.shape[-1], 3):
        raise InvalidArgumentError(
            None, None, f"[rgb_to_grayscale] last dimension must be 3, got {original.shape}"
        )
    flt = convert_image_dtype(with_channels(original, 3), dtypes.float32)
    weights = convert_to_tensor([[0.2989], [0.587], [0.114]])
    return convert_image_dtype(_mixed(flt, weights), original.dtype)


def _mixed(images, matrix):
    """Every pixel times a matrix."""
    shape = sizes_of(images)
    rows = call("reshape", (images, (-1, shape[-1])), {})
    mixed = call("matmul", (rows, cast(matrix, images.dtype)), {})
    return call("reshape", (mixed, (*shape[:-1], matrix.shape[1])), {})


@export("tf.image.grayscale_to_rgb")
def grayscale_to_rgb(images, name=None):
    """Three equal channels from one."""
    images = convert_to_tensor(images)
    if images.ndim < 1 or must_differ(images.shape[-1], 1):
        raise ValueError(f"the last dimension must have size 1, got {images.shape}")
    return call("tile", (with_channels(images, 1), [1] * (images.ndim - 1) + [3]), {})


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


def _where(condition, a, b):
    return call("select", (condition, a, b), {})


@export("tf.image.rgb_to_hsv")
def rgb_to_hsv(images, name=None):
    """Hue, saturation and value of every pixel, each from 0 to 1."""
    images = _floating(images, "rgb_to_hsv")
    r, g, b = (images[..., i] for i in range(3))
    value = call("max", (images,), {"axis": [-1]})
    spread = value - call("min", (images,), {"axis": [-1]})
    saturation = call("divide_no_nan", (spread, value), {})
    saturation = _where(call("greater", (value, _like(0, value)), {}), saturation, value * 0.0)
    sixth = call("divide_no_nan", (_like(1.0 / 6.0, spread), spread), {})
    hue = _where(
        call("equal", (r, value), {}),
        sixth * (g - b),
        _where(
            call("equal", (g, value), {}),
            sixth * (b - r) + _like(2.0 / 6.0, value),
            sixth * (r - g) + _like(4.0 / 6.0, value),
        ),
    )
    hue = _where(call("greater", (spread, _like(0, spread)), {}), hue, hue * 0.0)
    hue = _where(call("less", (hue, _like(0, hue)), {}), hue + 1.0, hue)
    return call("stack", ([hue, saturation, value],), {"axis": images.ndim - 1})


@export("tf.image.hsv_to_rgb")
def hsv_to_rgb(images, name=None):
    """Red, green and blue of pixels given by hue, saturation and value."""
    images = _floating(images, "hsv_to_rgb")
    hue, saturation, value = (images[..., i] for i in range(3))
    sixths = hue * 6.0

    def ramp(t):
        return call("clip_by_value", (t, _like(0, hue), _like(1, hue)), {})

    red = ramp(call("abs", (sixths - 3.0,), {}) - 1.0)
    green = ramp(2.0 - call("abs", (sixths - 2.0,), {}))
    blue = ramp(2.0 - call("abs", (sixths - 4.0,), {}))
    parts = [((c - 1.0) * saturation + 1.0) * value for c in (red, green, blue)]
    return call("stack", (parts,), {"axis": images.ndim - 1})


# --- adjustments ----------------------------------------------------------------------------------


def _as_float(image, work):
    """Runs ``work`` on the image in floating point and converts back."""
    image = convert_to_tensor(image)
    if image.dtype.is_floating and image.dtype.size >= 4:
        return work(image)
    return convert_image_dtype(work(convert_image_dtype(image, dtypes.float32)), image.dtype,
                               saturate=True)  # fmt: skip


@export("tf.image.adjust_brightness")
@dispatching
def adjust_brightness(image, delta):
    """``delta`` added, as a part of the full range."""
    return _as_float(image, lambda x: x + cast(convert_to_tensor(delta), x.dtype))


@export("tf.image.adjust_contrast")
def adjust_contrast(images, contrast_factor):
    """Distances from each channel's mean multiplied."""
    factor = convert_to_tensor(contrast_factor)

    def work(x):
        mean = call("mean", (x,), {"axis": [-3, -2], "keepdims": True})
        return (x - mean) * cast(factor, x.dtype) + mean

    return _as_float(images, work)


@export("tf.image.adjust_gamma")
@dispatching
def adjust_gamma(image, gamma=1, gain=1):
    """``gain * image ** gamma``."""
    if not hasattr(gamma, "dtype") and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")

    def work(x):
        return call("pow", (x, cast(convert_to_tensor(gamma), x.dtype)), {}) * _like(gain, x)

    return _as_float(image, work)


@export("tf.image.adjust_hue")
def adjust_hue(image, delta, name=None):
    """Hue turned by ``delta`` (-1 to 1)."""
    if not hasattr(delta, "dtype") and not -1 <= delta <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")

    def work(x):
        hsv = rgb_to_hsv(x)
        hue = call(
            "floormod", (hsv[..., :1] + cast(convert_to_tensor(delta), x.dtype), _like(1, x)), {}
        )
        return hsv_to_rgb(call("concat", ([hue, hsv[..., 1:]],), {"axis": x.ndim - 1}))

    return _as_float(image, work)


@export("tf.image.adjust_saturation")
def adjust_saturation(image, saturation_factor, name=None):
    """Saturation multiplied."""

    def work(x):
        hsv = rgb_to_hsv(x)
        scaled = hsv[..., 1:2] * cast(convert_to_tensor(saturation_factor), x.dtype)
        scaled = call("clip_by_value", (scaled, _like(0, x), _like(1, x)), {})
        parts = [hsv[..., :1], scaled, hsv[..., 2:]]
        return hsv_to_rgb(call("concat", (parts,), {"axis": x.ndim - 1}))

    return _as_float(image, work)


@export("tf.image.per_image_standardization")
def per_image_standardization(image):
    """Each image with mean 0 and deviation 1; the deviation at least 1 / sqrt(elements)."""
    image = convert_to_tensor(image)
    image = image if image.dtype.is_floating else cast(image, dtypes.float32)
    axes = {"axis": [-1, -2, -3], "keepdims": True}
    count = _math.prod(sizes_of(image)[-3:])
    deviation = call("std", (image,), axes)
    wide = image.dtype if image.dtype.size > 2 else dtypes.float32  # counts overflow half types
    least = cast(call("rsqrt", (cast(larger(count, 1), wide),), {}), image.dtype)
    return (image - call("mean", (image,), axes)) / call("maximum", (deviation, least), {})
