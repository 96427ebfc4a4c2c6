"""Image files: ``tf.io.decode_png``, ``tf.image.decode_image`` and the like."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._graph.control_flow import cond
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call
from tidemark.image._color import convert_image_dtype


def _decoded(contents, channels=0, dtype=dtypes.uint8, animations=False, **attrs):
    attrs.update(channels=channels or 0, dtype=dtype, expand_animations=animations)
    return call("decode_image_file", (convert_to_tensor(contents, dtype=dtypes.string),), attrs)


@export("tf.io.decode_png", "tf.image.decode_png")
def decode_png(contents, channels=0, dtype=dtypes.uint8, name=None):
    """The pixels of a PNG file, of 8 or 16 bits."""
    return _decoded(contents, channels, dtype)


@export("tf.io.decode_bmp", "tf.image.decode_bmp")
def decode_bmp(contents, channels=0, name=None):
    """The pixels of a BMP file."""
    return _decoded(contents, channels)


@export("tf.io.decode_gif", "tf.image.decode_gif")
def decode_gif(contents, name=None):
    """The frames of a GIF file."""
    image = _decoded(contents, animations=True)
    return image if image.ndim == 4 else call("expand_dims", (image,), {"axis": 0})


@export("tf.io.decode_jpeg", "tf.image.decode_jpeg")
def decode_jpeg(
    contents,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    """The pixels of a JPEG file, made smaller by 1, 2, 4 or 8 on the way."""
    return _decoded(
        contents,
        channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=float(acceptable_fraction),
        dct_method=dct_method,
    )


@export("tf.io.decode_and_crop_jpeg", "tf.image.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents,
    crop_window,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    """A part of a JPEG file's pixels: [top, left, height, width]."""
    image = decode_jpeg(
        contents,
        channels,
        ratio,
        fancy_upscaling,
        try_recover_truncated,
        acceptable_fraction,
        dct_method,
    )
    window = convert_to_tensor(crop_window, dtype=dtypes.int32)
    begin = call("concat", (window[:2], [0]), {"axis": 0})
    size = call("concat", (window[2:], [-1]), {"axis": 0})
    return call("slice", (image, begin, size), {})


@export("tf.io.decode_image", "tf.image.decode_image")
def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """The pixels of a PNG, JPEG, GIF or BMP file, in any type of image."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in (dtypes.uint8, dtypes.uint16, dtypes.float32):
        raise ValueError(f"`dtype` must be uint8, uint16 or float32; got {dtype}")
    contents = convert_to_tensor(contents, dtype=dtypes.string)

    def read(pixels):
        return convert_image_dtype(_decoded(contents, channels, pixels, expand_animations), dtype)

    if dtype == dtypes.uint8:
        return read(dtypes.uint8)
    start = call("string_substr", (contents, 0, 4), {})
    is_png = call("equal", (start, b"\x89PNG"), {})
    return cond(is_png, lambda: read(dtypes.uint16), lambda: read(dtypes.uint8))


@export("tf.io.is_jpeg", "tf.image.is_jpeg")
def is_jpeg(contents, name=None):
    """Whether a string begins as a JPEG file does."""
    start = call("string_substr", (convert_to_tensor(contents, dtype=dtypes.string), 0, 3), {})
    return call("equal", (start, b"\xff\xd8\xff"), {})


@export("tf.image.adjust_jpeg_quality")
@sized_when_run
def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """An image as it is after being stored as a JPEG file of that quality."""
    image = convert_to_tensor(image)
    if image.dtype not in (dtypes.uint8, dtypes.float32):
        raise TypeError(f"image must be uint8 or float32, got {image.dtype}")
    original = image.dtype
    pixels = convert_image_dtype(image, dtypes.uint8, saturate=True)
    contents = call("encode_jpeg", (pixels,), {"quality": int(jpeg_quality)})
    again = decode_jpeg(contents, channels=image.shape[-1] or 0, dct_method=dct_method)
    return convert_image_dtype(again, original, saturate=True)
