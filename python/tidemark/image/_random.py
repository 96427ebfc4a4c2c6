"""Random changes of images; the stateless ones depend on their seed alone."""

from __future__ import annotations

import tidemark
from tidemark import dtypes
from tidemark._export import dispatching, export
from tidemark._tensor.creation import cast, convert_to_tensor, get_static_value
from tidemark._tensor.static import is_number, sizes_of, static_ints
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError
from tidemark.image._color import (
    _where,
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
)
from tidemark.image._files import adjust_jpeg_quality
from tidemark.image._geometry import flip_left_right, flip_up_down
from tidemark.random._functions import stateless_uniform, uniform


def _draw(low, high, seed):
    return tidemark.random.uniform([], low, high, seed=seed)


def _check_range(lower, upper):
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def _check_delta(max_delta, most=None):
    if max_delta < 0 or (most is not None and max_delta > most):
        limit = "non-negative" if most is None else f"between 0 and {most}"
        raise ValueError(f"max_delta must be {limit}.")


@export("tf.image.random_brightness")
@dispatching
def random_brightness(image, max_delta, seed=None):
    """Brightness changed by a random amount."""
    _check_delta(max_delta)
    return adjust_brightness(image, _draw(-max_delta, max_delta, seed))


@export("tf.image.random_contrast")
def random_contrast(image, lower, upper, seed=None):
    """Contrast changed by a random factor."""
    _check_range(lower, upper)
    return adjust_contrast(image, _draw(lower, upper, seed))


@export("tf.image.random_hue")
def random_hue(image, max_delta, seed=None):
    """Hue turned by a random amount."""
    _check_delta(max_delta, 0.5)
    return adjust_hue(image, _draw(-max_delta, max_delta, seed))


@export("tf.image.random_saturation")
def random_saturation(image, lower, upper, seed=None):
    """Saturation changed by a random factor."""
    _check_range(lower, upper)
    return adjust_saturation(image, _draw(lower, upper, seed))


def _flip_some(image, flip, seed):
    image = convert_to_tensor(image)
    if image.ndim == 3:
        return _where(call("less", (_draw(0.0, 1.0, seed), 0.5), {}), flip(image), image)
    chosen = tidemark.random.uniform([sizes_of(image)[0], 1, 1, 1], seed=seed)
    return _where(call("less", (chosen, 0.5), {}), flip(image), image)


@export("tf.image.random_flip_left_right")
def random_flip_left_right(image, seed=None):
    """Each image mirrored left to right with probability 1/2."""
    return _flip_some(image, flip_left_right, seed)


@export("tf.image.random_flip_up_down")
def random_flip_up_down(image, seed=None):
    """Each image upside down with probability 1/2."""
    return _flip_some(image, flip_up_down, seed)


@export("tf.image.stateless_random_brightness")
def stateless_random_brightness(image, max_delta, seed):
    """Brighter or darker by at most max_delta."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, stateless_uniform([], seed, -max_delta, max_delta))


@export("tf.image.stateless_random_contrast")
def stateless_random_contrast(image, lower, upper, seed):
    """Another contrast, by a factor between lower and upper."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return adjust_contrast(image, stateless_uniform([], seed, lower, upper))


@export("tf.image.stateless_random_hue")
def stateless_random_hue(image, max_delta, seed):
    """Another hue, at most max_delta away."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, stateless_uniform([], seed, -max_delta, max_delta))


@export("tf.image.stateless_random_saturation")
def stateless_random_saturation(image, lower, upper, seed=None):
    """Another saturation, by a factor between lower and upper."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return adjust_saturation(image, stateless_uniform([], seed, lower, upper))


def _flipped(image, seed, flip):
    """Each image of a batch flipped or not, by its own draw."""
    image = convert_to_tensor(image)
    if image.ndim == 3:
        return call("select", (stateless_uniform([], seed) < 0.5, flip(image), image), {})
    if image.ndim != 4:
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    draws = stateless_uniform([sizes_of(image)[0]], seed) < 0.5
    draws = call("reshape", (draws, [-1, 1, 1, 1]), {})
    return call("select", (draws, flip(image), image), {})


@export("tf.image.stateless_random_flip_left_right")
def stateless_random_flip_left_right(image, seed):
    """Mirrored or not."""
    return _flipped(image, seed, flip_left_right)


@export("tf.image.stateless_random_flip_up_down")
def stateless_random_flip_up_down(image, seed):
    """Upside down or not."""
    return _flipped(image, seed, flip_up_down)


def _cropped(value, size, draw):
    value, size = convert_to_tensor(value), convert_to_tensor(size)
    if get_static_value(size) is None:
        room = call("shape", (value,), {}) - cast(size, dtypes.int32)
        begin = draw(value.shape.rank) % (room + 1)
        return call("slice", (value, begin, size), {})
    wanted = static_ints(size, "size")
    limits = []
    for have, want in zip(sizes_of(value), wanted, strict=True):
        if is_number(have) and have < want:
            raise InvalidArgumentError(
                None, None, f"Need value.shape >= size, got {list(value.shape)} and {wanted}"
            )
        limits.append(have - want + 1)
    begin = draw(len(wanted)) % convert_to_tensor(limits, dtype=dtypes.int32)
    return call("slice", (value, begin, wanted), {})


@export("tf.image.stateless_random_crop")
def stateless_random_crop(value, size, seed, name=None):
    """A part of that size, anywhere."""
    return _cropped(
        value,
        size,
        lambda count: stateless_uniform([count], seed, 0, dtypes.int32.max, dtype=dtypes.int32),
    )


@export("tf.image.random_crop")
def random_crop(value, size, seed=None, name=None):
    """A part of that size, anywhere."""
    return _cropped(
        value,
        size,
        lambda count: uniform([count], 0, dtypes.int32.max, dtype=dtypes.int32, seed=seed),
    )


def _check_qualities(lower, upper):
    if lower < 0 or upper < 0 or lower > 100 or upper > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if lower >= upper:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")


@export("tf.image.stateless_random_jpeg_quality")
def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    """As it is after being stored as a JPEG file of some quality in the range."""
    _check_qualities(min_jpeg_quality, max_jpeg_quality)
    quality = stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality)


@export("tf.image.random_jpeg_quality")
def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """As it is after being stored as a JPEG file of some quality in the range."""
    _check_qualities(min_jpeg_quality, max_jpeg_quality)
    quality = uniform([], min_jpeg_quality, max_jpeg_quality, dtype=dtypes.int32, seed=seed)
    return adjust_jpeg_quality(image, quality)
