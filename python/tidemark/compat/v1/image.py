"""``tf.compat.v1.image``: TensorFlow 1's arguments, and images resized as it did."""

from __future__ import annotations

import tidemark as tf
from tidemark import image as _image
from tidemark._graph.at_run import sized_when_run as _sized_when_run
from tidemark._tensor.static import sizes_of as _sizes_of
from tidemark.image import _corner_resize, _geometry


class ResizeMethod:
    """How new pixels come from old ones."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = range(4)


_METHODS = ("bilinear", "nearest", "bicubic", "area")


def _method(given):
    name = _METHODS[given] if isinstance(given, int) and 0 <= given < 4 else given
    if name not in _METHODS:
        raise ValueError(f"Resize method is not implemented: {given}")
    return name


@_sized_when_run
def resize(images, size, method=ResizeMethod.BILINEAR, align_corners=False,
           preserve_aspect_ratio=False, name=None):  # fmt: skip
    """Images of another size; those that have it already come back as they are."""
    images, was_batch = _geometry._batched(images, "resize")
    wanted = _geometry._wanted_size(size)
    if len(wanted) != 2:
        raise ValueError(
            f"'size' must be a 1-D Tensor of 2 elements: new_height, new_width: {size}"
        )
    if preserve_aspect_ratio:
        old = _sizes_of(images)[1:3]
        scale = min(new / size for new, size in zip(wanted, old, strict=True))
        wanted = [round(scale * size) for size in old]
    method = _method(method)
    if list(images._shape_tuple()[1:3]) != list(wanted):
        images = _corner_resize.resized(images, *wanted, method, align_corners)
    return _geometry._unbatched(images, was_batch)


resize_images = resize


def _by_method(method):
    def resize_by(images, size, align_corners=False, name=None, half_pixel_centers=False):
        """Images [batch, height, width, channels] of another size."""
        if half_pixel_centers:
            if align_corners:
                raise ValueError("If half_pixel_centers is True, align_corners must be False.")
            return _image.resize(images, size, method)
        height, width = _geometry._wanted_size(size)
        images = tf.convert_to_tensor(images)
        return _corner_resize.resized(images, height, width, method, align_corners)

    resize_by.__name__ = resize_by.__qualname__ = f"resize_{method}"
    return resize_by


resize_bilinear, resize_bicubic = _by_method("bilinear"), _by_method("bicubic")
resize_nearest_neighbor = _by_method("nearest")


def resize_area(images, size, align_corners=False, name=None):
    """Images whose new pixels are the means of the old ones they cover."""
    height, width = _geometry._wanted_size(size)
    images = tf.convert_to_tensor(images)
    return _corner_resize.resized(images, height, width, "area", align_corners)


def resize_image_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR,
                          align_corners=False):  # fmt: skip
    """Images that fill the size but for borders, their proportions kept."""
    return _geometry.padded_after(
        lambda images, size: resize(images, size, method, align_corners),
        image, target_height, target_width,
    )  # fmt: skip


def resize_image_with_crop_or_pad(image, target_height, target_width):
    """Images cut, or framed with zeros, to the size."""
    return _image.resize_with_crop_or_pad(image, target_height, target_width)


def transpose_image(image, name=None):
    """Rows become columns."""
    return _image.transpose(image)


def extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None,
                          sizes=None):  # fmt: skip
    """Patches of images, each laid out along the last dimension."""
    sizes = ksizes if sizes is None else sizes
    return _image.extract_patches(images, sizes, strides, rates, padding)


extract_patches = extract_image_patches


def crop_and_resize(image, boxes, box_ind=None, crop_size=None, method="bilinear",
                    extrapolation_value=0, name=None, box_indices=None):  # fmt: skip
    """Boxes of images, all of one size."""
    indices = box_ind if box_indices is None else box_indices
    return _image.crop_and_resize(image, boxes, indices, crop_size, method, extrapolation_value)


def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """Images with the edges of boxes drawn in."""
    return _image.draw_bounding_boxes(images, boxes, colors)


def extract_glimpse(input, size, offsets, centered=True, normalized=True, uniform_noise=True,
                    name=None):  # fmt: skip
    """Windows of images; with noise, of uniform or normal numbers, where they reach beyond."""
    return _image.extract_glimpse(
        input, size, offsets, centered, normalized, "uniform" if uniform_noise else "gaussian"
    )


def sample_distorted_bounding_box(image_size, bounding_boxes, seed=None, seed2=None,
                                  min_object_covered=0.1, aspect_ratio_range=None, area_range=None,
                                  max_attempts=None, use_image_if_no_bounding_boxes=None,
                                  name=None):  # fmt: skip
    """A box of an image, drawn at random, that covers enough of what is given."""
    return _image.sample_distorted_bounding_box(
        image_size, bounding_boxes, seed or seed2 or 0, min_object_covered, aspect_ratio_range,
        area_range, max_attempts, use_image_if_no_bounding_boxes,
    )  # fmt: skip


def __getattr__(name):
    if name in ("resize_with_pad", "stateless_sample_distorted_bounding_box") or name.startswith(
        "stateless_random_"
    ):
        raise AttributeError(f"module 'tensorflow.compat.v1.image' has no attribute {name!r}")
    return getattr(_image, name)
