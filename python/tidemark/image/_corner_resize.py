"""Images of another size as TensorFlow 1 made them: pixels are points, the first lies at 0.

What ``tf.image.resize`` does since looks from the centers of pixels.
"""

from __future__ import annotations

from tidemark import dtypes
from tidemark._tensor.creation import cast
from tidemark._tensor.static import is_number, larger, sizes_of, smaller
from tidemark._tidemark import call, convert, einsum

_STEPS = 1024  # the places between two pixels for which TensorFlow knows the cubic's weights
_CUBIC = -0.75


def _scale(old, new, align_corners):
    """How far apart, in old pixels, two new ones are; with aligned corners the last of both fall
    together."""
    if align_corners:
        apart = cast(old - 1, dtypes.float32) / cast(larger(new - 1, 1), dtypes.float32)
        whole = cast(old, dtypes.float32) / cast(larger(new, 1), dtypes.float32)
        if is_number(new):
            return apart if new > 1 else whole
        return call("select", (new > 1, apart, whole), {})
    return cast(old, dtypes.float32) / cast(larger(new, 1), dtypes.float32)


def _places(old, new, align_corners):
    """Where the new pixels lie among the old ones."""
    numbers = cast(call("range", (0, new, 1), {}), dtypes.float32)
    return numbers * _scale(old, new, align_corners)


def _whole(places, old):
    """The old pixel at or before each place."""
    return call("minimum", (cast(call("floor", (places,), {}), dtypes.int32), old - 1), {})


def _rows(images, places, axis):
    return call("gather", (images, places), {"axis": axis})


def _along(weights, axis):
    """Weights of the new pixels, to multiply images by."""
    return call("reshape", (weights, (-1, 1, 1) if axis == 1 else (-1, 1)), {})


def _nearest(images, axis, new, align_corners):
    old = sizes_of(images)[axis]
    places = _places(old, new, align_corners)
    return _rows(images, _whole(places + 0.5 if align_corners else places, old), axis)


def _bilinear(images, axis, new, align_corners):
    old = sizes_of(images)[axis]
    places = _places(old, new, align_corners)
    lower = _whole(places, old)
    upper = call("minimum", (lower + 1, smaller(old - 1, old)), {})
    first, second = _rows(images, lower, axis), _rows(images, upper, axis)
    return first + (second - first) * _along(places - cast(lower, dtypes.float32), axis)


def _cubic_weights(between):
    """How much the four pixels around a place count, by its distance from the second."""
    a = _CUBIC
    near = ((a + 2) * between - (a + 3)) * between * between + 1
    beyond = between + 1
    far = ((a * beyond - 5 * a) * beyond + 8 * a) * beyond - 4 * a
    return far, near


def _bicubic(images, axis, new, align_corners):
    old = sizes_of(images)[axis]
    places = _places(old, new, align_corners)
    lower = call("floor", (places,), {})
    between = call("round", ((places - lower) * float(_STEPS),), {}) / float(_STEPS)
    weights = [*_cubic_weights(between), *reversed(_cubic_weights(1.0 - between))]
    lower = cast(lower, dtypes.int32)
    total = None
    for at, weight in enumerate(weights):
        pixels = call("maximum", (call("minimum", (lower + (at - 1), old - 1), {}), 0), {})
        part = _rows(images, pixels, axis) * _along(weight, axis)
        total = part if total is None else total + part
    return total


def _area(images, axis, new, align_corners):
    """Means of what each new pixel covers; the last old one goes on beyond the edge."""
    old = sizes_of(images)[axis]
    scale = _scale(old, new, align_corners)
    starts = call("reshape", (_places(old, new, align_corners), (-1, 1)), {})
    left = cast(call("range", (0, old, 1), {}), dtypes.float32)
    inside = call("minimum", (starts + scale, left + 1.0), {})
    right = call("select", (left < cast(old - 1, dtypes.float32), inside, starts + scale), {})
    covered = right - call("maximum", (starts, left), {})
    weights = call("maximum", (covered, 0.0), {}) / scale
    return einsum(_SUMS[axis], (weights, images))


_SUMS = {1: "yh,bhwc->bywc", 2: "xw,bhwc->bhxc"}
_AXES = {"area": _area, "bicubic": _bicubic, "bilinear": _bilinear, "nearest": _nearest}


def resized(images, height, width, method, align_corners):
    """Images [batch, height, width, channels] of another size; float32 unless the nearest pixel
    is taken."""
    if method != "nearest":
        images = cast(images, dtypes.float32)
    # Columns before rows: floats are rounded as TensorFlow rounds them.
    for axis, size in ((2, width), (1, height)):
        size = size if is_number(size) else convert(size, dtypes.int32._enum)
        images = _AXES[method](images, axis, size, align_corners)
    return images
