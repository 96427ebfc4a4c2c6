// The best of boxes.
#include <tidemark/boxes.h>
#include <tidemark/call.h>
#include <tidemark/create.h>

#include <algorithm>
#include <tuple>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::image {

namespace {

Tensor int32_of(int64_t value) { return Tensor(static_cast<int32_t>(value)); }

/// The numbers of the best as int32, filled up with zeros to `most`.
Tensor filled_up(const Tensor& chosen, int64_t most) {
  const Tensor parts[] = {Tensor(int32_t{0}), int32_of(most) - size(chosen)};
  const Tensor edges = reshape(stack(parts), nn::vector_of({1, 2}));
  return reshape(pad(chosen, edges, "CONSTANT", Tensor(int32_t{0})), nn::vector_of({most}));
}

struct Found {
  float score;
  int64_t of_class, order;
  const float* box;
  bool operator<(const Found& other) const {
    return std::tuple(-score, of_class, order) <
           std::tuple(-other.score, other.of_class, other.order);
  }
};

/// What is found in one picture, by falling scores.
std::vector<Found> best_of(const Tensor& boxes, const Tensor& scores, int64_t picture,
                           int64_t per_class, const CombinedSuppressionOptions& options) {
  const int64_t count = boxes.dim(1), groups = boxes.dim(2), classes = scores.dim(2);
  std::vector<Found> found;
  for (int64_t one = 0; one < classes; ++one) {
    const Tensor mine = nn::at(nn::at(boxes, 0, picture), 1, std::min(one, groups - 1));
    const Tensor numbers = nn::at(nn::at(scores, 0, picture), 1, one);
    const Tensor chosen = non_max_suppression(
        mine, numbers, per_class,
        {.iou_threshold = options.iou_threshold, .score_threshold = options.score_threshold});
    int64_t order = 0;
    for (const int64_t i : chosen.to_ints()) {
      const int64_t place = ((picture * count + i) * groups + std::min(one, groups - 1)) * 4;
      found.push_back({numbers.data<float>()[i], one, order++, boxes.data<float>() + place});
    }
  }
  std::ranges::stable_sort(found, std::less<>());
  return found;
}

std::vector<Tensor> combined(const Tensor& boxes, const Tensor& scores, int64_t per_class,
                             int64_t total, const CombinedSuppressionOptions& options) {
  if (boxes.rank() != 4 || scores.rank() != 3) {
    fail(
        "[combined_non_max_suppression] boxes must be [batch, n, q, 4] and scores [batch, n, "
        "classes]. Received shapes: ",
        boxes.shape(), " and ", scores.shape());
  }
  const int64_t batch = boxes.dim(0);
  const int64_t size = options.pad_per_class ? std::min(total, per_class * scores.dim(2)) : total;
  const std::vector<Tensor> out = {zeros({batch, size, 4}), zeros({batch, size}),
                                   zeros({batch, size}), zeros({batch}, DType::int32)};
  for (int64_t picture = 0; picture < batch; ++picture) {
    const std::vector<Found> found = best_of(boxes, scores, picture, per_class, options);
    const int64_t kept = std::min(size, static_cast<int64_t>(found.size()));
    out[3].mutable_data<int32_t>()[picture] = static_cast<int32_t>(kept);
    for (int64_t i = 0; i < kept; ++i) {
      const Found& one = found[static_cast<size_t>(i)];
      const int64_t place = picture * size + i;
      for (int64_t side = 0; side < 4; ++side) {
        const float value = one.box[side];
        out[0].mutable_data<float>()[4 * place + side] =
            options.clip_boxes ? std::clamp(value, 0.f, 1.f) : value;
      }
      out[1].mutable_data<float>()[place] = one.score;
      out[2].mutable_data<float>()[place] = static_cast<float>(one.of_class);
    }
  }
  return out;
}

}  // namespace

Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores, int64_t max_output_size,
                           const SuppressionOptions& options) {
  TIDEMARK_HERE;
  return tidemark::non_max_suppression(
      boxes, scores, int32_of(max_output_size),
      {.iou_threshold = options.iou_threshold, .score_threshold = options.score_threshold})[0];
}

std::pair<Tensor, Tensor> non_max_suppression_with_scores(const Tensor& boxes, const Tensor& scores,
                                                          int64_t max_output_size,
                                                          const SoftSuppressionOptions& options) {
  TIDEMARK_HERE;
  const std::vector<Tensor> both =
      tidemark::non_max_suppression(boxes, scores, int32_of(max_output_size),
                                    {.iou_threshold = options.iou_threshold,
                                     .score_threshold = options.score_threshold,
                                     .soft_nms_sigma = options.soft_nms_sigma});
  return {both[0], both[1]};
}

Tensor non_max_suppression_overlaps(const Tensor& overlaps, const Tensor& scores,
                                    int64_t max_output_size, const OverlapOptions& options) {
  TIDEMARK_HERE;
  return tidemark::non_max_suppression(overlaps, scores, int32_of(max_output_size),
                                       {.iou_threshold = options.overlap_threshold,
                                        .score_threshold = options.score_threshold,
                                        .overlaps = true})[0];
}

std::pair<Tensor, Tensor> non_max_suppression_padded(const Tensor& boxes, const Tensor& scores,
                                                     int64_t max_output_size,
                                                     const PaddedSuppressionOptions& options) {
  TIDEMARK_HERE;
  constexpr const char* kName = "non_max_suppression_padded";
  nn::check_rank(kName, boxes, 2);
  const SuppressionOptions how{options.iou_threshold, options.score_threshold};
  if (boxes.rank() == 2) {
    const Tensor chosen = non_max_suppression(boxes, scores, max_output_size, how);
    return {options.pad_to_max_output_size ? filled_up(chosen, max_output_size) : chosen,
            size(chosen)};
  }
  Ints leading;
  int64_t pictures = 1;
  for (int axis = 0; axis < boxes.rank() - 2; ++axis) {
    leading.push_back(nn::known_size(kName, boxes, axis));
    pictures *= leading.back();
  }
  const int64_t count = nn::known_size(kName, boxes, -2);
  const Tensor all_boxes = reshape(boxes, nn::vector_of({pictures, count, 4}));
  const Tensor all_scores = reshape(scores, nn::vector_of({pictures, count}));
  std::vector<Tensor> rows, counts;
  for (int64_t i = 0; i < pictures; ++i) {
    const Tensor chosen = non_max_suppression(nn::at(all_boxes, 0, i), nn::at(all_scores, 0, i),
                                              max_output_size, how);
    rows.push_back(filled_up(chosen, max_output_size));
    counts.push_back(size(chosen));
  }
  if (pictures == 0) fail("[", kName, "] there is a picture. Received shape: ", boxes.shape());
  Ints sizes = leading;
  sizes.push_back(max_output_size);
  return {reshape(stack(rows), nn::vector_of(sizes)),
          reshape(stack(counts), nn::vector_of(leading))};
}

CombinedSuppression combined_non_max_suppression(const Tensor& boxes, const Tensor& scores,
                                                 int64_t max_output_size_per_class,
                                                 int64_t max_total_size,
                                                 const CombinedSuppressionOptions& options) {
  TIDEMARK_HERE;
  const Shape pairs{kUnknownDim, kUnknownDim};
  const std::vector<Tensor> made = nn::when_run(
      "combined_non_max_suppression",
      [=](const std::vector<Tensor>& given) {
        return combined(given[0], given[1], max_output_size_per_class, max_total_size, options);
      },
      {cast(boxes, DType::float32), cast(scores, DType::float32)},
      {{DType::float32, {kUnknownDim, kUnknownDim, 4}},
       {DType::float32, pairs},
       {DType::float32, pairs},
       {DType::int32, {kUnknownDim}}});
  return {made[0], made[1], made[2], made[3]};
}

}  // namespace tidemark::image
