"""Images through projective maps: rotations, shears, perspective.

A map has eight numbers a0 … c1; the output pixel (x, y) is taken from the input place
((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1.
"""

from __future__ import annotations

from tidemark import dtypes
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.static import static_ints
from tidemark._tidemark import call, convert
from tidemark.errors import InvalidArgumentError


def transform(images, transforms, output_shape, fill_value, interpolation, fill_mode):
    """A batch of images, each through its own map or all through one."""
    images = convert_to_tensor(images)
    if images.shape.rank != 4:
        raise InvalidArgumentError(
            None, None, f"[projective transform] images must have four dimensions: {images.shape}"
        )
    if interpolation not in ("NEAREST", "BILINEAR"):
        raise InvalidArgumentError(
            None, None, f"[projective transform] interpolation {interpolation!r} is not known"
        )
    if fill_mode not in ("CONSTANT", "NEAREST", "REFLECT", "WRAP"):
        raise InvalidArgumentError(
            None, None, f"[projective transform] fill_mode {fill_mode!r} is not known"
        )
    height, width = images.shape[1], images.shape[2]
    x, y = _sources(convert(transforms, dtypes.float32._enum), output_shape)
    x, y = _inside(x, width, fill_mode), _inside(y, height, fill_mode)
    fill = convert(fill_value, dtypes.float32._enum)
    if interpolation == "NEAREST":
        x, y = (cast(call("round", (v,), {}), dtypes.int32) for v in (x, y))
        return cast(_read(images, y, x, fill), images.dtype)
    return cast(_bilinear(images, x, y, fill), images.dtype)


def _sources(transforms, output_shape):
    """Input places of all output pixels: x and y, each [maps, height, width]."""
    rows, columns = static_ints(output_shape, "output_shape")
    flat = call("reshape", (transforms, (-1, 8)), {})
    a0, a1, a2, b0, b1, b2, c0, c1 = (
        call("reshape", (flat[:, i], (-1, 1, 1)), {}) for i in range(8)
    )
    y = call("reshape", (call("range", (0.0, float(rows), 1.0), {}), (1, -1, 1)), {})
    x = call("reshape", (call("range", (0.0, float(columns), 1.0), {}), (1, 1, -1)), {})
    k = c0 * x + c1 * y + 1.0
    return (a0 * x + a1 * y + a2) / k, (b0 * x + b1 * y + b2) / k


def _inside(at, size, fill_mode):
    """Coordinates brought inside of the image, as the mode says; CONSTANT leaves them."""
    if fill_mode == "CONSTANT" or size == 0:
        return at
    last = float(size - 1)
    if fill_mode == "REFLECT":
        period = 2.0 * size
        at = call("floormod", (at, period), {})
        at = call("select", (at >= float(size), period - at - 1.0, at), {})
    elif fill_mode == "WRAP":
        # As in TensorFlow, whose turns are counted one pixel shorter than they are.
        turns = call("floor", (abs(at) / max(last, 1.0),), {})
        beyond = call("select", (at > last, at - float(size) * turns, at), {})
        at = call("select", (at < 0.0, at + float(size) * (turns + 1.0), beyond), {})
    return call("clip_by_value", (at, 0.0, last), {})


def _extents(images):
    """Number, height and width of the images: what is not known is a scalar of the graph."""
    sizes = call("shape", (images,), {})
    return [sizes[i] if images.shape[i] is None else images.shape[i] for i in range(3)]


def _read(images, y, x, fill):
    """Pixels at whole coordinates, the fill value outside; as float32."""
    count, height, width = _extents(images)
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    y, x = (
        call("clip_by_value", (y, 0, height - 1), {}),
        call("clip_by_value", (x, 0, width - 1), {}),
    )
    batch = call("reshape", (call("range", (0, count, 1), {}), (-1, 1, 1)), {})
    places = call("stack", ([batch + y * 0, y + batch * 0, x + batch * 0],), {"axis": -1})
    pixels = cast(call("gather_nd", (images, places), {}), dtypes.float32)
    return call("select", (call("expand_dims", (inside,), {"axis": -1}), pixels, fill), {})


def _bilinear(images, x, y, fill):
    left, top = call("floor", (x,), {}), call("floor", (y,), {})
    x0, y0 = cast(left, dtypes.int32), cast(top, dtypes.int32)
    dx = call("expand_dims", (x - left,), {"axis": -1})
    dy = call("expand_dims", (y - top,), {"axis": -1})
    upper = _read(images, y0, x0, fill) * (1.0 - dx) + _read(images, y0, x0 + 1, fill) * dx
    lower = _read(images, y0 + 1, x0, fill) * (1.0 - dx) + _read(images, y0 + 1, x0 + 1, fill) * dx
    return upper * (1.0 - dy) + lower * dy
