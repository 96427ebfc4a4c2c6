// Boxes in pictures, [top, left, bottom, right] in parts of the picture: the best of them, random
// ones, and what they show.
//
//   td::Tensor boxes = td::constant({{0.f, 0.f, .5f, .5f}, {0.f, 0.f, .5f, .4f}}), image =
//       td::random::uniform({1, 8, 8, 3});
//   td::Tensor best = td::image::non_max_suppression(boxes, td::constant({0.9f, 0.8f}), 5);
//   td::Tensor middle = td::image::extract_glimpse(image, {4, 4}, td::zeros({1, 2}));
#pragma once

#include <tidemark/attr.h>
#include <tidemark/ops.h>
#include <tidemark/random.h>

#include <optional>
#include <string>
#include <utility>

namespace tidemark::image {

using tidemark::draw_bounding_boxes;

struct SuppressionOptions {
  double iou_threshold = 0.5;
  std::optional<double> score_threshold = std::nullopt;
};
/// The numbers of the best boxes, of those that overlap the best alone.
TIDEMARK_API Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores,
                                        int64_t max_output_size,
                                        const SuppressionOptions& options = {});
struct SoftSuppressionOptions {
  double iou_threshold = 0.5;
  std::optional<double> score_threshold = std::nullopt;
  double soft_nms_sigma = 0;
};
/// The numbers of the best boxes, and their scores, lowered by how much they overlap better ones.
TIDEMARK_API std::pair<Tensor, Tensor> non_max_suppression_with_scores(
    const Tensor& boxes, const Tensor& scores, int64_t max_output_size,
    const SoftSuppressionOptions& options = {});
struct OverlapOptions {
  double overlap_threshold = 0.5;
  std::optional<double> score_threshold = std::nullopt;
};
/// The same for what overlaps each other by `overlaps`, a square matrix.
TIDEMARK_API Tensor non_max_suppression_overlaps(const Tensor& overlaps, const Tensor& scores,
                                                 int64_t max_output_size,
                                                 const OverlapOptions& options = {});
struct PaddedSuppressionOptions {
  double iou_threshold = 0.5;
  std::optional<double> score_threshold = std::nullopt;
  bool pad_to_max_output_size = false;  // batches always are
};
/// The numbers filled up with zeros, and how many there are; of boxes [batch…, n, 4], too.
TIDEMARK_API std::pair<Tensor, Tensor> non_max_suppression_padded(
    const Tensor& boxes, const Tensor& scores, int64_t max_output_size,
    const PaddedSuppressionOptions& options = {});

struct CombinedSuppressionOptions {
  double iou_threshold = 0.5;
  std::optional<double> score_threshold = std::nullopt;
  bool pad_per_class = false, clip_boxes = true;
};
struct CombinedSuppression {
  Tensor nmsed_boxes, nmsed_scores, nmsed_classes;  // [batch, size, 4], [batch, size] twice
  Tensor valid_detections;                          // int32 [batch]
};
/// For each picture of a batch the best boxes over all classes. Boxes are [batch, n, 1 or classes,
/// 4], scores [batch, n, classes].
TIDEMARK_API CombinedSuppression combined_non_max_suppression(
    const Tensor& boxes, const Tensor& scores, int64_t max_output_size_per_class,
    int64_t max_total_size, const CombinedSuppressionOptions& options = {});

struct DistortedBoxOptions {
  double min_object_covered = 0.1;
  std::pair<double, double> aspect_ratio_range = {0.75, 1.33}, area_range = {0.05, 1};
  int64_t max_attempts = 100;
  bool use_image_if_no_bounding_boxes = false;
  std::optional<int64_t> seed = std::nullopt;  // of stateless draws their own
};
struct DistortedBox {
  Tensor begin, size;  // for td::slice
  Tensor bboxes;       // [1, 1, 4], for draw_bounding_boxes
};
/// A random part of a picture of size [height, width, channels] that covers some of one of the
/// boxes [batch, n, 4]; all of it where no such part was found.
TIDEMARK_API DistortedBox sample_distorted_bounding_box(const Tensor& image_size,
                                                        const Tensor& bounding_boxes,
                                                        const DistortedBoxOptions& options = {});
TIDEMARK_API DistortedBox
stateless_sample_distorted_bounding_box(const Tensor& image_size, const Tensor& bounding_boxes,
                                        random::Seed seed, const DistortedBoxOptions& options = {});

struct GlimpseOptions {
  bool centered = true;           // offsets count from the middle
  bool normalized = true;         // and in parts of the picture, else in pixels
  std::string noise = "uniform";  // what lies outside of the picture; "gaussian", "zero"
};
/// A window (height, width) of each picture around an offset, [batch, 2].
TIDEMARK_API Tensor extract_glimpse(const Tensor& input, const Ints& size, const Tensor& offsets,
                                    const GlimpseOptions& options = {});

}  // namespace tidemark::image
