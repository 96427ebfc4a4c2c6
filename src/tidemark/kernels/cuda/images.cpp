// Kernels of resize_images and its gradient: first the spans of both axes, then the sums.

#include <algorithm>
#include <cmath>

#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/ops/resize.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "images.h";

/// As device/images.h numbers them; Lanczos's have the number of their radius, from 3 on: the bell
/// has another.
int64_t method_number(std::string_view method) {
  if (method == "bicubic") return 1;
  if (method == "mitchellcubic") return 2;
  if (method == "gaussian") return 0x100;
  if (method == "lanczos3") return 3;
  return method == "lanczos5" ? 5 : 0;
}

/// One axis of a call, and its spans in the workspace.
struct Axis {
  int64_t from, to, width;
  size_t at = 0;  // in the workspace

  Axis(const OpCall& call, int64_t from_size, int64_t to_size) : from(from_size), to(to_size) {
    const std::string& method = call.attr("method").as_string();
    const bool widens = call.attr("antialias").as_bool() || method == "area";
    const double scale = static_cast<double>(from) / static_cast<double>(std::max<int64_t>(to, 1));
    const double stretch = widens ? std::max(1.0, scale) : 1.0;
    const double reach = 2 * resampling_kernel(method).radius * stretch;
    width = std::min(static_cast<int64_t>(std::ceil(reach)) + 2, from + 1);
  }
  size_t bytes(size_t element) const {
    const auto pixels = static_cast<size_t>(to);
    const size_t all = pixels * (2 * sizeof(int64_t) + static_cast<size_t>(width) * element);
    return (all + 63) / 64 * 64;
  }
};

struct Resizing {
  Axis rows, columns;
  size_t element;

  /// From the old images to the new ones, whichever way the call goes.
  Resizing(const OpCall& call, const Shape& old, const Shape& made, DType dtype)
      : rows(call, old[1], made[1]), columns(call, old[2], made[2]), element(size_of(dtype)) {
    columns.at = rows.bytes(element);
  }
  size_t workspace() const { return columns.at + columns.bytes(element); }
};

const char* place(const Axis& axis, void* workspace) {
  return static_cast<const char*>(workspace) + axis.at;
}

Words spans_of(const Axis& axis, void* workspace) {
  const char* first = place(axis, workspace);
  const auto numbers = axis.to * static_cast<int64_t>(sizeof(int64_t));
  return words(static_cast<const void*>(first), static_cast<const void*>(first + numbers),
               static_cast<const void*>(first + 2 * numbers));
}

void make_spans(KernelContext& k, const Axis& axis, DType dtype) {
  const std::string& method = k.attr("method").as_string();
  const DeviceFunction make{kText, "make_spans", {stored_type(dtype)}, "tm::make_spans_arguments"};
  make.run(
      cuda_stream_of(k), axis.to,
      words(spans_of(axis, k.workspace()), axis.from, axis.to, axis.width, method_number(method),
            method == "area", k.attr("antialias").as_bool(), resampling_kernel(method).radius));
}

bool is_empty(const Shape& old, const Shape& made) {
  return old.num_elements() == 0 || made.num_elements() == 0;
}

void run(KernelContext& k, const char* function, const Shape& old, const Shape& made) {
  const Tensor& out = k.output(0);
  if (is_empty(old, made)) {
    if (out.nbytes() > 0) cuda_stream_of(k).fill_zeros(k.out<void>(0), out.nbytes());
    return;
  }
  const Resizing sizes(k.call(), old, made, out.dtype());
  make_spans(k, sizes.rows, out.dtype());
  make_spans(k, sizes.columns, out.dtype());
  const DeviceFunction sum{kText, function, {stored_type(out.dtype())}, "tm::resize_arguments"};
  Words all = words(k.in<void>(0), k.out<void>(0), out.num_elements(), old[3]);
  for (const Axis* axis : {&sizes.rows, &sizes.columns}) {
    add_word(all, spans_of(*axis, k.workspace()));
    add_word(all, words(axis->from, axis->to, axis->width));
  }
  sum.run(cuda_stream_of(k), out.num_elements(), std::move(all));
}

void run_resize(KernelContext& k) { run(k, "resize", k.input(0).shape(), k.output(0).shape()); }
void run_grad(KernelContext& k) { run(k, "resize_grad", k.output(0).shape(), k.input(0).shape()); }

size_t workspace_for(const OpCall& call, const Shape& old, const Shape& made) {
  return is_empty(old, made) ? 0 : Resizing(call, old, made, call.inputs[0].dtype()).workspace();
}
size_t resize_workspace(const OpCall& call, std::span<const Shape> outputs) {
  return workspace_for(call, call.inputs[0].shape(), outputs[0]);
}
size_t grad_workspace(const OpCall& call, std::span<const Shape> outputs) {
  return workspace_for(call, outputs[0], call.inputs[0].shape());
}

constexpr DTypeSet kPixels = dtype_set(DType::float32, DType::float64);
TIDEMARK_KERNEL_OF(cuda, resize_images, kPixels, run_resize, resize_workspace);
TIDEMARK_KERNEL_OF(cuda, resize_images_grad, kPixels, run_grad, grad_workspace);

}  // namespace

}  // namespace tidemark::cuda
