"""Boxes in images: suppression of overlapping ones, drawing."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.arrays import ensure_shape
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.static import known_size, sizes_of
from tidemark._tidemark import call


def _suppressed(boxes, scores, most, iou, least, sigma=0.0, overlaps=False):
    boxes = convert_to_tensor(boxes, dtype=dtypes.float32)
    scores = convert_to_tensor(scores, dtype=dtypes.float32)
    if not overlaps and boxes.ndim == 2 and boxes.shape[1] is None:
        boxes = ensure_shape(boxes, [None, 4])
    attrs = {
        "iou_threshold": float(iou),
        "score_threshold": float(least),
        "soft_nms_sigma": float(sigma),
        "overlaps": overlaps,
    }
    return call("non_max_suppression", (boxes, scores, most), attrs)


@export("tf.image.non_max_suppression")
def non_max_suppression(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    name=None,
):
    """The numbers of the best boxes that do not overlap a better one."""
    return _suppressed(boxes, scores, max_output_size, iou_threshold, score_threshold)[0]


@export("tf.image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    soft_nms_sigma=0.0,
    name=None,
):
    """The numbers of the best boxes and their scores, lowered by how much they overlap others."""
    return _suppressed(
        boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma
    )


@export("tf.image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps,
    scores,
    max_output_size,
    overlap_threshold=0.5,
    score_threshold=float("-inf"),
    name=None,
):
    """The numbers of the best ones, given how much each pair overlaps."""
    return _suppressed(
        overlaps, scores, max_output_size, overlap_threshold, score_threshold, overlaps=True
    )[0]


def _padded(chosen, most):
    count = sizes_of(chosen)[0]
    return call("pad", (chosen, [[0, most - count]], convert_to_tensor(0, chosen.dtype)), {})


@export("tf.image.non_max_suppression_padded")
@sized_when_run
def non_max_suppression_padded(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_to_max_output_size=False,
    name=None,
    sorted_input=False,
    canonicalized_coordinates=False,
    tile_size=512,
):
    """The numbers of the best boxes, filled up with zeros, and how many; in batches too."""
    boxes = convert_to_tensor(boxes, dtype=dtypes.float32)
    scores = convert_to_tensor(scores, dtype=dtypes.float32)
    most = int(max_output_size)
    if boxes.ndim == 2:
        chosen = _suppressed(boxes, scores, most, iou_threshold, score_threshold)[0]
        count = convert_to_tensor(sizes_of(chosen)[0], dtype=dtypes.int32)
        return (_padded(chosen, most) if pad_to_max_output_size else chosen), count
    lead = list(sizes_of(boxes)[:-2])
    flat_boxes = call("reshape", (boxes, [-1, *sizes_of(boxes)[-2:]]), {})
    flat_scores = call("reshape", (scores, [-1, sizes_of(scores)[-1]]), {})
    rows = [
        _suppressed(flat_boxes[i], flat_scores[i], most, iou_threshold, score_threshold)[0]
        for i in range(known_size(flat_boxes, 0))
    ]
    counts = convert_to_tensor([sizes_of(row)[0] for row in rows], dtype=dtypes.int32)
    chosen = call("stack", tuple(_padded(row, most) for row in rows), {"axis": 0})
    return call("reshape", (chosen, [*lead, most]), {}), call("reshape", (counts, lead), {})


@export("tf.image.combined_non_max_suppression")
@sized_when_run
def combined_non_max_suppression(
    boxes,
    scores,
    max_output_size_per_class,
    max_total_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_per_class=False,
    clip_boxes=True,
    name=None,
):
    """For each image of a batch the best boxes over all classes: boxes, scores, classes, count."""
    import numpy as np  # importing the package does not load it

    boxes = convert_to_tensor(boxes, dtype=dtypes.float32).numpy()
    scores = convert_to_tensor(scores, dtype=dtypes.float32).numpy()
    if boxes.ndim != 4 or scores.ndim != 3:
        raise ValueError("boxes must be [batch, n, q, 4] and scores [batch, n, classes]")
    per_class, total = int(max_output_size_per_class), int(max_total_size)
    classes = scores.shape[2]
    size = min(total, per_class * classes) if pad_per_class else total
    out_boxes = np.zeros((len(boxes), size, 4), np.float32)
    out_scores = np.zeros((len(boxes), size), np.float32)
    out_classes = np.zeros((len(boxes), size), np.float32)
    counts = np.zeros(len(boxes), np.int32)
    for image in range(len(boxes)):
        found = []
        for one in range(classes):
            own = boxes[image, :, min(one, boxes.shape[2] - 1)]
            chosen = _suppressed(
                own, scores[image, :, one], per_class, iou_threshold, score_threshold
            )[0].numpy()
            found += [
                (-scores[image, i, one], one, order, own[i]) for order, i in enumerate(chosen)
            ]
        found = sorted(found, key=lambda item: item[:3])[:size]
        counts[image] = len(found)
        for place, (score, one, _, box) in enumerate(found):
            out_boxes[image, place] = np.clip(box, 0, 1) if clip_boxes else box
            out_scores[image, place] = -score
            out_classes[image, place] = one
    return tuple(convert_to_tensor(v) for v in (out_boxes, out_scores, out_classes, counts))


@export("tf.image.draw_bounding_boxes")
def draw_bounding_boxes(images, boxes, colors, name=None):
    """Images with the outlines of boxes drawn on them."""
    images = convert_to_tensor(images)
    boxes = convert_to_tensor(boxes, dtype=dtypes.float32)
    colors = convert_to_tensor([] if colors is None else colors, dtype=dtypes.float32)
    return call("draw_bounding_boxes", (images, boxes, colors), {})
