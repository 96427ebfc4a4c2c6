// Ops on boxes in images, and on sets.
#include <tidemark/op.h>

#include <algorithm>

#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using namespace movement;

void suppression_rule(InferContext& c) {
  const bool overlaps = c.attr("overlaps").as_bool();
  const Shape& boxes = c.shape(0);
  const Shape& scores = c.shape(1);
  const double threshold = c.attr("iou_threshold").as_real();
  if (!overlaps && !(threshold >= 0 && threshold <= 1)) {
    c.fail("iou_threshold must be in [0, 1], got ", threshold);
  }
  if (c.attr("soft_nms_sigma").as_real() < 0) c.fail("soft_nms_sigma must not be negative");
  int64_t count = kUnknownDim;
  if (boxes.is_fully_known() && scores.is_fully_known()) {
    if (boxes.rank() != 2 || boxes[1] != (overlaps ? boxes[0] : 4)) {
      c.fail(overlaps ? "overlaps must be square, got " : "boxes must have 4 columns, got ",
             boxes.to_brackets());
    }
    if (scores.rank() != 1 || scores[0] != boxes[0]) {
      c.fail("scores has incompatible shape: ", scores.to_brackets(), " for ", boxes[0], " boxes");
    }
    if (holds_values(c.input(2)) && holds_values(c.input(0))) {
      count = c.scalar_int(2);
      if (count < 0) c.fail("max_output_size must be non-negative, got ", count);
      count = std::min(count, boxes[0]);
    }
  }
  c.set(0, Shape{count});
  c.set(1, Shape{count});
}

void draw_rule(InferContext& c) {
  const Shape& images = c.shape(0);
  const Shape& boxes = c.shape(1);
  c.set(0, images);
  if (!images.is_fully_known() || !boxes.is_fully_known()) return;
  if (images.rank() != 4) c.fail("The rank of the images should be 4");
  const int64_t depth = images[3];
  if (depth != 1 && depth != 3 && depth != 4) {
    c.fail("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA); given ", depth);
  }
  if (boxes.rank() != 3 || boxes[2] != 4 || boxes[0] != images[0]) {
    c.fail("boxes must have shape [", images[0], ", num_bounding_boxes, 4], got ",
           boxes.to_brackets());
  }
  const Shape& colors = c.shape(2);
  if (colors.is_fully_known() && colors.num_elements() > 0 &&
      (colors.rank() != 2 || colors[1] < depth)) {
    c.fail("colors must have shape [n, ", depth, "] or be empty, got ", colors.to_brackets());
  }
}

void set_rule(InferContext& c) {
  const std::string& operation = c.attr("set_operation").as_string();
  if (operation != "a-b" && operation != "b-a" && operation != "intersection" &&
      operation != "union") {
    c.fail("Invalid set_operation '", operation, "'");
  }
  const Shape& a = c.shape(0);
  const Shape& b = c.shape(1);
  if (!a.has_rank() || !b.has_rank()) {
    c.set(0, Shape{kUnknownDim, kUnknownDim});
    c.set(1, Shape{kUnknownDim});
    return c.set(2, Shape{kUnknownDim});
  }
  if (a.rank() < 2 || a.rank() != b.rank()) {
    c.fail("Ranks must be equal and at least 2, given ", a.to_brackets(), " and ", b.to_brackets());
  }
  for (int i = 0; i < a.rank() - 1; ++i) {
    if (a[i] != b[i] && a[i] != kUnknownDim && b[i] != kUnknownDim) {
      c.fail("Mismatched group shapes ", a.to_brackets(), " vs ", b.to_brackets());
    }
  }
  int64_t most = kUnknownDim;
  if (holds_values(c.input(0)) && holds_values(c.input(1))) {
    most = checked_add(a.num_elements(), b.num_elements(), "the sets' elements");
  }
  c.set(0, Shape{most, a.rank()});
  c.set(1, Shape{most});
  c.set(2, Shape{a.rank()});
  c.set_string_bytes(1, characters_of(c.input(0)) + characters_of(c.input(1)));
}

}  // namespace

TIDEMARK_OP(non_max_suppression)
    .doc(
        "Picks boxes by falling score, leaving out those that overlap one picked before; gives "
        "their numbers and (softened) scores. With `overlaps` the first input holds the overlap "
        "of each pair instead of boxes.")
    .input("boxes", dtype_set(DType::float32))
    .input("scores", dtype_set(DType::float32))
    .input("max_output_size", kIndex, 'I')
    .attr("iou_threshold", AttrKind::real, 0.5)
    .optional_attr("score_threshold", AttrKind::real)
    .attr("soft_nms_sigma", AttrKind::real, 0.0)
    .attr("overlaps", AttrKind::boolean, false)
    .output("selected_indices", always(DType::int32))
    .output("selected_scores", always(DType::float32))
    .shape(suppression_rule)
    .on_host(2)
    .rows_from_values(0, 1)
    .no_gradient();

TIDEMARK_OP(draw_bounding_boxes)
    .doc("Images with the outlines of boxes drawn on them, in the colors given, or ten of its own.")
    .input("images", dtype_set(DType::float32, DType::float16))
    .input("boxes", dtype_set(DType::float32), 'B')
    .input("colors", dtype_set(DType::float32), 'B')
    .output("output", like("images"))
    .shape(draw_rule)
    .no_gradient();

TIDEMARK_OP(set_operation)
    .doc(
        "For each pair of sets along the last dimension: their difference, intersection or union, "
        "sorted, as indices, values and shape of a sparse tensor.")
    .input("a", kInts | kString)
    .input("b", kInts | kString)
    .attr("set_operation", AttrKind::string)
    .output("indices", always(DType::int64))
    .output("values", like("a"))
    .output("shape", always(DType::int64))
    .shape(set_rule)
    .rows_from_values(0, 1)
    .no_gradient();

}  // namespace tidemark
