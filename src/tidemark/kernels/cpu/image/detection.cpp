// Kernels of ops on boxes: suppression of overlapping ones, and drawing.
#include <tidemark/kernel.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/serial_for.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"

namespace tidemark::cpu {

namespace {

struct Candidate {
  int64_t box;
  float score;
  int64_t compared;  // with that many of the picked ones
};

/// The best candidate is on top of a heap: highest score, then lowest number.
bool is_worse(const Candidate& a, const Candidate& b) {
  return a.score < b.score || (a.score == b.score && a.box > b.box);
}

/// Intersection over union of two boxes, whichever corners are given.
float overlap_of(const float* a, const float* b) {
  const auto low = [](const float* box, int i) { return std::min(box[i], box[i + 2]); };
  const auto high = [](const float* box, int i) { return std::max(box[i], box[i + 2]); };
  const auto area = [&](const float* box) {
    return (high(box, 0) - low(box, 0)) * (high(box, 1) - low(box, 1));
  };
  if (area(a) <= 0 || area(b) <= 0) return 0;
  float common = 1;
  for (int i = 0; i < 2; ++i) {
    common *= std::max(std::min(high(a, i), high(b, i)) - std::max(low(a, i), low(b, i)), 0.f);
  }
  return common / (area(a) + area(b) - common);
}

size_t suppression_workspace(const OpCall& call, std::span<const Shape>) {
  return static_cast<size_t>(call.inputs[1].num_elements()) * sizeof(Candidate);
}

void non_max_suppression(KernelContext& k) {
  const int64_t boxes = k.input(1).num_elements(), most = k.output(0).dim(0);
  const bool overlaps = k.attr("overlaps").as_bool();
  const auto threshold = static_cast<float>(k.attr("iou_threshold").as_real());
  const Attr& limit = k.attr("score_threshold");
  const float least = limit.is_none() ? -std::numeric_limits<float>::infinity()
                                      : static_cast<float>(limit.as_real());
  const auto sigma = static_cast<float>(k.attr("soft_nms_sigma").as_real());
  const bool soft = sigma > 0;
  const float* data = k.in<float>(0);
  const float* scores = k.in<float>(1);
  const auto similarity = [&](int64_t a, int64_t b) {
    return overlaps ? data[a * boxes + b] : overlap_of(data + a * 4, data + b * 4);
  };
  auto* heap = k.workspace<Candidate>();
  int64_t left = 0, picked = 0;
  serial_for(boxes, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (!(scores[i] > least)) continue;  // NaN is none
      heap[left++] = {i, scores[i], 0};
      std::push_heap(heap, heap + left, is_worse);
    }
  });
  auto* out = k.out<int32_t>(0);
  while (picked < most && left > 0) {
    std::pop_heap(heap, heap + left, is_worse);
    Candidate best = heap[--left];
    const float before = best.score;
    bool dropped = false;
    check_interrupt();  // each is compared with all that were picked
    for (int64_t j = picked - 1; j >= best.compared && !dropped; --j) {
      const float common = similarity(best.box, out[j]);
      if (!soft) {
        dropped = common > threshold;
      } else {
        best.score *= std::exp(-0.5f / sigma * common * common);  // however much they share
        if (best.score <= least) break;
      }
    }
    best.compared = picked;
    if (dropped) continue;
    if (best.score == before) {
      out[picked] = static_cast<int32_t>(best.box);
      k.out<float>(1)[picked++] = best.score;
    } else if (best.score > least) {  // softened: its turn comes later
      heap[left++] = best;
      std::push_heap(heap, heap + left, is_worse);
    }
  }
  k.set_rows(0, picked);
  k.set_rows(1, picked);
}

// --- drawing ------------------------------------------------------------------------------------

constexpr float kColors[10][4] = {
    {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5f, 0, 0.5f, 1},
    {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1},
};

template <class T>
struct Canvas {
  T* pixels;
  int64_t height, width, depth;
  T color[4];

  void row(int64_t y, int64_t from, int64_t to) const {
    if (y < 0 || y >= height) return;
    for (int64_t x = std::max<int64_t>(from, 0); x <= std::min(to, width - 1); ++x) dot(y, x);
  }
  void column(int64_t x, int64_t from, int64_t to) const {
    if (x < 0 || x >= width) return;
    for (int64_t y = std::max<int64_t>(from, 0); y <= std::min(to, height - 1); ++y) dot(y, x);
  }
  void dot(int64_t y, int64_t x) const {
    for (int64_t c = 0; c < depth; ++c) pixels[(y * width + x) * depth + c] = color[c];
  }
};

/// The place of a coordinate; far outside when it is no number.
int64_t place(float coordinate, int64_t size) {
  const float at = coordinate * static_cast<float>(size - 1);
  if (!(at > -1e9f)) return -1'000'000'000;
  return at < 1e9f ? static_cast<int64_t>(at) : 1'000'000'000;
}

template <class T>
void draw(KernelContext& k) {
  const Shape& shape = k.input(0).shape();
  const int64_t boxes = k.input(1).dim(1), depth = shape[3];
  const Tensor& colors = k.input(2);
  const int64_t given = colors.num_elements() > 0 ? colors.dim(0) : 0;
  copy_bytes(k.out<void>(0), k.in<void>(0), static_cast<int64_t>(k.input(0).nbytes()));
  for (int64_t image = 0; image < shape[0]; ++image) {
    Canvas<T> canvas{
        k.out<T>(0) + image * shape[1] * shape[2] * depth, shape[1], shape[2], depth, {}};
    for (int64_t b = 0; b < boxes; ++b) {
      if (b % 16 == 0) check_interrupt();
      const float* color =
          given > 0 ? colors.data<float>() + b % given * colors.dim(1) : kColors[b % 10];
      for (int64_t c = 0; c < depth; ++c) canvas.color[c] = T(color[c]);
      if (given == 0 && depth == 1) canvas.color[0] = T(1.f);
      const float* box = k.in<float>(1) + (image * boxes + b) * 4;
      const int64_t top = place(box[0], shape[1]), left = place(box[1], shape[2]);
      const int64_t bottom = place(box[2], shape[1]), right = place(box[3], shape[2]);
      if (top > bottom || left > right) continue;
      if (top >= shape[1] || bottom < 0 || left >= shape[2] || right < 0) continue;
      canvas.row(top, left, right);
      canvas.row(bottom, left, right);
      canvas.column(left, top, bottom);
      canvas.column(right, top, bottom);
    }
  }
}

}  // namespace

TIDEMARK_KERNEL_OF(cpu, non_max_suppression, dtype_set(DType::float32), non_max_suppression,
                   suppression_workspace);
TIDEMARK_KERNEL_OF(cpu, draw_bounding_boxes, dtype_set(DType::float32), draw<float>);
TIDEMARK_KERNEL_OF(cpu, draw_bounding_boxes, dtype_set(DType::float16), draw<Half>);

}  // namespace tidemark::cpu
