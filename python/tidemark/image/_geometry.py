"""Sizes and orientation of images: ``tf.image.resize``, crops, flips, boxes cut out."""

from __future__ import annotations

import math as _math

from tidemark import _tidemark, dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import cast, convert_to_tensor, get_static_value
from tidemark._tensor.static import (
    is_number,
    known_size,
    larger,
    must_differ,
    sizes_of,
    smaller,
    static_ints,
)
from tidemark._tidemark import Tensor, call
from tidemark.debugging._checks import _require
from tidemark.errors import InvalidArgumentError, ResourceExhaustedError


@export("tf.image.ResizeMethod")
class ResizeMethod:
    """Names of the ways to resize."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _batched(image, name):
    """The image as a batch, and whether it was one already."""
    image = convert_to_tensor(image)
    if image.ndim == 3:
        return call("expand_dims", (image,), {"axis": 0}), False
    if image.ndim != 4:
        raise ValueError(
            f"[{name}] images must have shape [height, width, channels] or [batch, height, width, "
            f"channels], got {image.shape}"
        )
    return image, True


def _unbatched(images, was_batch):
    return images if was_batch else call("squeeze", (images,), {"axis": [0]})


def _nearest(images, height, width):
    """Every new pixel a copy of the old one whose place its center falls in."""
    for axis, size in ((1, height), (2, width)):
        old = sizes_of(images)[axis]
        if is_number(old) and is_number(size) and old == size:
            continue
        scale = cast(old / larger(size, 1), dtypes.float32)
        centers = (cast(call("range", (0, size, 1), {}), dtypes.float32) + 0.5) * scale
        places = cast(call("floor", (centers,), {}), dtypes.int32)
        places = call("minimum", (places, larger(old - 1, 0)), {})
        images = call("gather", (images, places), {"axis": axis})
    return images


def _wanted_size(size):
    """The elements of a size: numbers, or scalars of the graph where they are not known yet."""
    if not isinstance(size, Tensor) or get_static_value(size) is not None:
        if not isinstance(size, (list, tuple)) or not any(map(_tidemark.is_symbolic, size)):
            return static_ints(size, "size")
        return list(size)
    return [size[i] for i in range(known_size(size, 0))]


@export("tf.image.resize")
@sized_when_run
def resize(
    images, size, method="bilinear", preserve_aspect_ratio=False, antialias=False, name=None
):
    """Images of another size."""
    images, was_batch = _batched(images, "resize")
    wanted = _wanted_size(size)
    if len(wanted) != 2:
        raise ValueError(
            f"'size' must be a 1-D Tensor of 2 elements: new_height, new_width: {size}"
        )
    height, width = wanted
    _, old_height, old_width, _ = images._shape_tuple()
    if preserve_aspect_ratio:
        old_height, old_width = sizes_of(images)[1:3]
        scale = min(height / old_height, width / old_width)
        height, width = round(scale * old_height), round(scale * old_width)
    if all(is_number(n) for n in wanted) and (height, width) == (old_height, old_width):
        same = images if method == "nearest" else cast(images, dtypes.float32)
        return _unbatched(same, was_batch)
    if method == "nearest":
        if 0 in (old_height, old_width):
            raise InvalidArgumentError(None, None, "[resize] input image must be of non-zero size")
        return _unbatched(_nearest(images, height, width), was_batch)
    if method not in vars(ResizeMethod).values():
        raise ValueError(f"Resize method is not implemented: {method}")
    attrs = {"method": method, "antialias": bool(antialias)}
    resized = call("resize_images", (cast(images, dtypes.float32), [height, width]), attrs)
    return _unbatched(resized, was_batch)


def _whole(number):
    """As an integer, or as it is where it is a scalar of the graph; ops check it when they run."""
    return number if _tidemark.is_symbolic(number) else int(number)


def _is_below(size, least):
    """Whether a size (None: unknown) is known to be too small."""
    return size is not None and is_number(size) and is_number(least) and size < least


# --- cutting and filling up -----------------------------------------------------------------------


@export("tf.image.crop_to_bounding_box")
def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The part of images at an offset, of the given size."""
    images, was_batch = _batched(image, "crop_to_bounding_box")
    _, height, width, _ = images._shape_tuple()
    top, left, rows, columns = map(
        _whole, (offset_height, offset_width, target_height, target_width)
    )
    for value, name in ((left, "offset_width"), (top, "offset_height")):
        if is_number(value) and value < 0:
            raise ValueError(f"{name} must be >= 0.")
    for value, name in ((columns, "target_width"), (rows, "target_height")):
        if is_number(value) and value <= 0:
            raise ValueError(f"{name} must be > 0.")
    if _is_below(width, left + columns):
        raise ValueError("width must be >= target + offset.")
    if _is_below(height, top + rows):
        raise ValueError("height must be >= target + offset.")
    return _unbatched(
        call("slice", (images, [0, top, left, 0], [-1, rows, columns, -1]), {}), was_batch
    )


@export("tf.image.pad_to_bounding_box")
def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Images in a larger field of zeros, at an offset."""
    images, was_batch = _batched(image, "pad_to_bounding_box")
    _, height, width, _ = sizes_of(images)
    top, left = _whole(offset_height), _whole(offset_width)
    bottom = _whole(target_height) - top - height
    right = _whole(target_width) - left - width
    if _is_below(top, 0):
        raise ValueError("offset_height must be >= 0")
    if _is_below(left, 0):
        raise ValueError("offset_width must be >= 0")
    if _is_below(right, 0):
        raise ValueError("width must be <= target - offset")
    if _is_below(bottom, 0):
        raise ValueError("height must be <= target - offset")
    for missing, name in ((right, "width"), (bottom, "height")):
        if not is_number(missing):
            _require(missing >= 0, lambda name=name: f"{name} must be <= target - offset")
    pads = [[0, 0], [top, larger(bottom, 0)], [left, larger(right, 0)], [0, 0]]
    padded = call("pad", (images, pads, convert_to_tensor(0, dtype=images.dtype)), {})
    if not padded.shape.is_fully_defined():
        rows, columns = (n if is_number(n) else None for n in (target_height, target_width))
        padded.set_shape([images.shape[0], rows, columns, images.shape[3]])
    return _unbatched(padded, was_batch)


def _edge(size, fraction):
    """Pixels to leave out at either end so that the fraction of them stays."""
    if is_number(size):
        return int((size - size * fraction) / 2)
    size = cast(size, dtypes.float64)
    return cast((size - size * fraction) / 2, dtypes.int32)


@export("tf.image.central_crop")
def central_crop(image, central_fraction):
    """The middle of images: that fraction of height and width."""
    fraction = float(central_fraction)
    if not 0.0 < fraction <= 1.0:
        raise ValueError("central_fraction must be within (0, 1]")
    images, was_batch = _batched(image, "central_crop")
    if fraction == 1.0:
        return _unbatched(images, was_batch)
    _, height, width, _ = sizes_of(images)
    top, left = _edge(height, fraction), _edge(width, fraction)
    size = [-1, height - 2 * top, width - 2 * left, -1]
    return _unbatched(call("slice", (images, [0, top, left, 0], size), {}), was_batch)


@export("tf.image.resize_with_crop_or_pad")
def resize_with_crop_or_pad(image, target_height, target_width):
    """Images cut or filled up with zeros, evenly on both sides."""
    images, was_batch = _batched(image, "resize_with_crop_or_pad")
    wanted = [_whole(target_height), _whole(target_width)]
    if _is_below(wanted[1], 1):
        raise ValueError("target_width must be > 0.")
    if _is_below(wanted[0], 1):
        raise ValueError("target_height must be > 0.")
    both = list(zip(sizes_of(images)[1:3], wanted, strict=True))
    cut = [larger(s - w, 0) // 2 for s, w in both]
    fill = [larger(w - s, 0) // 2 for s, w in both]
    images = crop_to_bounding_box(images, *cut, *(smaller(s, w) for s, w in both))
    return _unbatched(pad_to_bounding_box(images, *fill, *wanted), was_batch)


@export("tf.image.resize_with_pad")
@sized_when_run
def resize_with_pad(image, target_height, target_width, method="bilinear", antialias=False):
    """Images of the given size, their proportions kept, with zeros around."""
    images, was_batch = _batched(image, "resize_with_pad")
    wanted = [int(target_height), int(target_width)]
    for value, name in ((wanted[1], "target_width"), (wanted[0], "target_height")):
        if value <= 0:
            raise ValueError(f"{name} must be > 0.")
    size = [known_size(images, axis) for axis in (1, 2)]
    ratio = max(s / w for s, w in zip(size, wanted, strict=False))
    new = [_math.floor(s / ratio) for s in size]
    resized = resize(images, new, method=method, antialias=antialias)
    offset = [max(0, _math.floor((w - s / ratio) / 2)) for s, w in zip(size, wanted, strict=False)]
    return _unbatched(pad_to_bounding_box(resized, *offset, *wanted), was_batch)


# --- turning --------------------------------------------------------------------------------------


def _flipped(image, axis, name):
    images, was_batch = _batched(image, name)
    return _unbatched(call("reverse", (images,), {"axis": [axis]}), was_batch)


@export("tf.image.flip_left_right")
def flip_left_right(image):
    """Images mirrored left to right."""
    return _flipped(image, 2, "flip_left_right")


@export("tf.image.flip_up_down")
def flip_up_down(image):
    """Images upside down."""
    return _flipped(image, 1, "flip_up_down")


@export("tf.image.transpose")
def transpose(image, name=None):
    """Images with rows and columns exchanged."""
    images, was_batch = _batched(image, "transpose")
    return _unbatched(call("transpose", (images,), {"perm": [0, 2, 1, 3]}), was_batch)


@export("tf.image.rot90")
def rot90(image, k=1, name=None):
    """Images turned counter-clockwise by ``k`` quarters."""
    images, was_batch = _batched(image, "rot90")
    turns = int(k) % 4
    if turns in (1, 3):
        images = call("transpose", (images,), {"perm": [0, 2, 1, 3]})
    flips = {0: [], 1: [1], 2: [1, 2], 3: [2]}[turns]
    if flips:
        images = call("reverse", (images,), {"axis": flips})
    return _unbatched(images, was_batch)


# --- parts ----------------------------------------------------------------------------------------


@export("tf.image.crop_and_resize")
@sized_when_run
def crop_and_resize(
    image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None
):
    """Parts of images, given as boxes in relative coordinates, resized to one size."""
    image = cast(convert_to_tensor(image), dtypes.float32)
    boxes = cast(convert_to_tensor(boxes), dtypes.float32)
    box_indices = convert_to_tensor(box_indices)
    if image.ndim != 4 or boxes.ndim != 2 or must_differ(boxes.shape[1], 4):
        raise InvalidArgumentError(
            None, None, f"[crop_and_resize] takes images [b, h, w, c] and boxes [n, 4], got "
            f"{image.shape} and {boxes.shape}"
        )  # fmt: skip
    if method not in ("bilinear", "nearest"):
        raise ValueError(f"method must be 'bilinear' or 'nearest', got {method!r}")
    rows, columns = static_ints(crop_size, "crop_size")
    if rows <= 0 or columns <= 0:
        raise InvalidArgumentError(
            None, None, f"crop dimensions must be positive, got [{rows}, {columns}]"
        )
    _, height, width, channels = sizes_of(image)
    _check_room(boxes.shape[0], rows, columns, channels)
    y = _sample_places(boxes[:, 0], boxes[:, 2], rows, height)
    x = _sample_places(boxes[:, 1], boxes[:, 3], columns, width)
    picked = call("gather", (image, box_indices), {"axis": 0})
    picked, y_inside = _sampled(picked, y, 1, height, method)
    picked, x_inside = _sampled(picked, x, 2, width, method)
    inside = call("logical_and", (call("expand_dims", (y_inside,), {"axis": 2}),
                                  call("expand_dims", (x_inside,), {"axis": 1})), {})  # fmt: skip
    inside = call("expand_dims", (inside,), {"axis": 3})
    return call("select", (inside, picked, float(extrapolation_value)), {})


def _check_room(*sizes):
    """Refuses what the memory there may be cannot hold, before anything is computed: a result of
    these sizes and, beside it, at least one more tensor of them."""
    size = 2 * 4 * _math.prod(size for size in sizes if isinstance(size, int))
    if size > _tidemark.limit():
        raise ResourceExhaustedError(
            None, None, f"[crop_and_resize] to compute a result of shape {list(sizes)} takes "
            f"{size:,} bytes; the limit of the process is {_tidemark.limit():,}"
        )  # fmt: skip


def _last_place(size):
    return float(size - 1) if is_number(size) else cast(size - 1, dtypes.float32)


def _sample_places(low, high, count, size):
    """[boxes, count] coordinates in pixels; the middle of the box when there is one."""
    last = _last_place(size)
    if count == 1:
        return call("expand_dims", (0.5 * (low + high) * last,), {"axis": 1})
    step = call("expand_dims", ((high - low) * (last / (count - 1)),), {"axis": 1})
    steps = cast(call("range", (0, count, 1), {}), dtypes.float32)
    return call("expand_dims", (low * last,), {"axis": 1}) + step * steps


def _sampled(images, places, axis, size, method):
    """Pixels at the places along an axis, and which places lie inside of the image."""
    last = _last_place(size)
    below_last = call("less_equal", (places, last), {})
    inside = call("logical_and", (call("greater_equal", (places, 0.0), {}), below_last), {})
    bounded = call("clip_by_value", (places, 0.0, last), {})
    attrs = {"axis": axis, "batch_dims": 1}
    if method == "nearest":
        nearest = cast(call("floor", (bounded + 0.5,), {}), dtypes.int32)
        return call("gather", (images, nearest), attrs), inside
    low = call("floor", (bounded,), {})
    part = bounded - low
    for new_axis in (1, 3) if axis == 2 else (2, 3):
        part = call("expand_dims", (part,), {"axis": new_axis})
    below = call("gather", (images, cast(low, dtypes.int32)), attrs)
    above = call("gather", (images, cast(call("ceil", (bounded,), {}), dtypes.int32)), attrs)
    return below + (above - below) * part, inside
