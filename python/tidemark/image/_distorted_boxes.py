"""Random crops that keep some of an object: ``tf.image.sample_distorted_bounding_box``."""

from __future__ import annotations

import math

import numpy as np

import tidemark
from tidemark import _tidemark, dtypes
from tidemark._export import export
from tidemark._graph.tracing import is_symbolic
from tidemark._tensor.creation import convert_to_tensor
from tidemark.errors import InvalidArgumentError

_DRAWS = 4  # numbers that an attempt takes


@export("tf.image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed=0,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    """A random box in an image that covers some of one of the boxes given: where it begins, its
    size, both for ``tf.slice``, and the box for ``tf.image.draw_bounding_boxes``."""
    attempts = 100 if max_attempts is None else int(max_attempts)
    numbers = tidemark.random.uniform([attempts * _DRAWS], seed=seed or None)
    return _checked(image_size, bounding_boxes, numbers, min_object_covered, aspect_ratio_range,
                    area_range, use_image_if_no_bounding_boxes)  # fmt: skip


@export("tf.image.stateless_sample_distorted_bounding_box")
def stateless_sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    """The same, decided by a seed of two integers alone."""
    attempts = 100 if max_attempts is None else int(max_attempts)
    numbers = tidemark.random.stateless_uniform([attempts * _DRAWS], seed)
    return _checked(image_size, bounding_boxes, numbers, min_object_covered, aspect_ratio_range,
                    area_range, use_image_if_no_bounding_boxes)  # fmt: skip


def _fail(text):
    raise InvalidArgumentError(None, None, f"[sample_distorted_bounding_box] {text}")


def _checked(image_size, boxes, numbers, covered, ratios, areas, use_image):
    image_size = convert_to_tensor(image_size)
    if not image_size.dtype.is_integer:
        _fail(f"image_size must be integers; given {image_size.dtype.name}")
    boxes = convert_to_tensor(boxes, dtype=dtypes.float32)
    ratios = (0.75, 1.33) if ratios is None else tuple(float(r) for r in ratios)
    areas = (0.05, 1.0) if areas is None else tuple(float(a) for a in areas)
    if len(ratios) != 2 or not 0 < ratios[0] <= ratios[1]:
        _fail(f"aspect_ratio_range must be two rising numbers above 0; given {ratios}")
    if len(areas) != 2 or not 0 < areas[0] <= areas[1] or areas[1] > 1:
        _fail(f"area_range must be two rising numbers above 0 and at most 1; given {areas}")
    covered = convert_to_tensor(covered, dtype=dtypes.float32)
    tensors = [image_size, boxes, numbers, covered]
    if not any(is_symbolic(t) for t in tensors):
        return _sampled(*tensors, ratios, areas, bool(use_image))

    def run(*values):
        return list(_sampled(*values, ratios, areas, bool(use_image)))

    kind = image_size.dtype
    specs = [(kind, (3,)), (kind, (3,)), (dtypes.float32, (1, 1, 4))]
    return tuple(_tidemark.python_call(run, tensors, specs, False))


def _sampled(image_size, boxes, numbers, covered, ratios, areas, use_image):
    size = image_size.numpy()
    if size.shape != (3,):
        _fail(f"image_size must be [height, width, channels]; given shape {size.shape}")
    height, width = int(size[0]), int(size[1])
    if height <= 0 or width <= 0:
        _fail(f"the image must have pixels; given {size.tolist()}")
    given = boxes.numpy().reshape(-1, 4) if boxes.shape.num_elements() else np.zeros((0, 4))
    if boxes.shape.rank != 3 or (boxes.shape[-1] not in (4, None)):
        _fail(f"bounding_boxes must be [batch, boxes, 4]; given shape {boxes.shape}")
    if not len(given):
        if not use_image:
            _fail("no bounding boxes; `use_image_if_no_bounding_boxes` takes the whole image")
        given = np.array([[0.0, 0.0, 1.0, 1.0]])
    if (given[:, :2] >= given[:, 2:]).any() or (given < 0).any() or (given > 1).any():
        _fail("boxes are [y_min, x_min, y_max, x_max], rising and in [0, 1]")
    scale = np.array([height, width, height, width])
    least = float(covered.numpy())
    top, left, tall, wide = 0, 0, height, width
    for draws in numbers.numpy().astype(float).reshape(-1, _DRAWS):
        crop = _crop(draws, height, width, ratios, areas)
        if crop is not None and _covers(crop, np.round(given * scale), least):
            top, left, tall, wide = crop
            break
    kind = image_size.dtype
    box = np.array([[[top, left, top + tall, left + wide]]], np.float32) / scale.astype(np.float32)
    return (
        convert_to_tensor([top, left, 0], dtype=kind),
        convert_to_tensor([tall, wide, -1], dtype=kind),
        convert_to_tensor(box, dtype=dtypes.float32),
    )


def _crop(draws, height, width, ratios, areas):
    """A box of a random shape, size and place; None: no such box fits."""
    ratio = ratios[0] + (ratios[1] - ratios[0]) * draws[0]
    least, most = (area * height * width for area in areas)
    low = max(1, round(math.sqrt(least / ratio)))
    high = min(round(math.sqrt(most / ratio)), height)
    if round(high * ratio) > width:
        high = min(int((width + 0.5 - 1e-7) / ratio), height)
    low = min(low, high)
    tall = low + int(draws[1] * (high - low + 1))
    wide = round(tall * ratio)
    if tall * wide < least:  # rounding made it too small
        tall += 1
        wide = round(tall * ratio)
    if tall * wide > most:
        tall -= 1
        wide = round(tall * ratio)
    fits = least <= tall * wide <= most and 0 < wide <= width and 0 < tall <= height
    if not fits:
        return None
    return int(draws[2] * (height - tall + 1)), int(draws[3] * (width - wide + 1)), tall, wide


def _covers(crop, boxes, least):
    """Whether the crop holds enough of some box."""
    top, left, tall, wide = crop
    rows = np.minimum(boxes[:, 2], top + tall) - np.maximum(boxes[:, 0], top)
    columns = np.minimum(boxes[:, 3], left + wide) - np.maximum(boxes[:, 1], left)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    common = np.maximum(rows, 0) * np.maximum(columns, 0)
    return bool(((area >= 1) & (common >= least * area)).any())
