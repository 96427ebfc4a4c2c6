// Kernels of convolution and its gradients: oneDNN for float32 and bfloat16, direct sums otherwise.

#include <tidemark/kernel.h>

#include <algorithm>
#include <cstring>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/convolution_plan.h"
#include "tidemark/kernels/cpu/isa/convolution_loops.h"
#include "tidemark/kernels/cpu/isa_level.h"
#include "tidemark/kernels/cpu/matmul_problem.h"
#include "tidemark/kernels/cpu/unfold.h"
#include "tidemark/ops/windows.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(ConvolutionTable, convolution_table);

const ConvolutionTable& convolution_loops() {
  static const ConvolutionTable* const table = &TIDEMARK_FOR_LEVEL(convolution_table, best_level());
  return *table;
}

namespace {

enum Kind : int32_t { kForward, kInputGradient, kFilterGradient };

constexpr int64_t kSmallMacs = 1 << 12;  // below this the library's call costs more
constexpr int64_t kGrainMacs = 1 << 18;

struct Problem {
  Kind kind;
  DType dtype;
  Windows windows;
  ConvolutionSizes sizes;

  Problem(Kind k, const OpCall& call, const Shape& output) : kind(k) {
    const Shape& images = kind == kInputGradient ? output : call.inputs[0].shape();
    const Shape& filter = kind == kFilterGradient ? output : call.inputs[1].shape();
    dtype = call.inputs[kind == kInputGradient ? 1 : 0].dtype();
    windows = read_windows(call, images, filter.dims().first(filter.dims().size() - 2));
    sizes.batch = images[0];
    sizes.in_channels = images.dim(-1);
    sizes.out_channels = filter.dim(-1);
    sizes.groups = std::max<int64_t>(1, sizes.in_channels / std::max<int64_t>(1, filter.dim(-2)));
    for (int d = 0; d < 3; ++d) {
      sizes.in[d] = windows.in[d];
      sizes.out[d] = windows.out[d];
      sizes.kernel[d] = windows.kernel[d];
      sizes.stride[d] = windows.stride[d];
      sizes.dilation[d] = windows.dilation[d];
      sizes.before[d] = windows.before[d];
    }
  }

  int64_t window() const { return sizes.kernel[0] * sizes.kernel[1] * sizes.kernel[2]; }
  int64_t macs() const {
    return sizes.batch * sizes.out[0] * sizes.out[1] * sizes.out[2] * window() *
           sizes.out_channels * (sizes.in_channels / sizes.groups);
  }

  /// One pixel a window, each read once: a product of matrices whose rows are pixels. Where its
  /// sums are longer than it has results, threads share the sums rather than the results: no
  /// product.
  bool is_product() const {
    const int64_t pixels = sizes.batch * sizes.in[0] * sizes.in[1] * sizes.in[2];
    if (kind == kFilterGradient && pixels > sizes.in_channels * sizes.out_channels) return false;
    for (int d = 0; d < 3; ++d) {
      if (sizes.kernel[d] != 1 || sizes.stride[d] != 1 || sizes.in[d] != sizes.out[d]) return false;
    }
    return sizes.groups == 1;
  }
  MatmulProblem product(const void* first, const void* second) const {
    const int64_t pixels = sizes.batch * sizes.in[0] * sizes.in[1] * sizes.in[2];
    const int64_t in = sizes.in_channels, out = sizes.out_channels;
    switch (kind) {
      case kForward:
        return {dtype, {first, pixels, in, in, 1, false}, {second, in, out, out, 1, false}};
      case kInputGradient:  // by the filter, transposed
        return {dtype, {second, pixels, out, out, 1, false}, {first, out, in, 1, out, false}};
      case kFilterGradient:
        break;
    }
    return {dtype, {first, in, pixels, 1, in, false}, {second, pixels, out, out, 1, false}};
  }

  /// Sums over the window of the input's gradient would be rounded one by one in bfloat16.
  bool is_unfolded() const {
    if (dtype != DType::float32 && (dtype != DType::bfloat16 || kind == kInputGradient))
      return false;
    return pays_to_unfold(sizes);
  }
  /// `matrix`: the unfolded images, or their gradient, which is the result.
  MatmulProblem unfolded_product(const void* matrix, const void* filter, const void* dy) const {
    const int64_t rows = unfolded_rows(sizes), columns = unfolded_columns(sizes);
    const int64_t out = sizes.out_channels;
    switch (kind) {
      case kForward:
        return {dtype,
                {matrix, rows, columns, columns, 1, false},
                {filter, columns, out, out, 1, false}};
      case kInputGradient:
        return {dtype, {dy, rows, out, out, 1, false}, {filter, out, columns, 1, out, false}};
      case kFilterGradient:
        break;
    }
    return {dtype, {matrix, columns, rows, 1, columns, false}, {dy, rows, out, out, 1, false}};
  }
  size_t matrix_bytes() const {
    return (static_cast<size_t>(unfolded_rows(sizes) * unfolded_columns(sizes)) * size_of(dtype) +
            63) /
           64 * 64;
  }

  std::shared_ptr<const ConvolutionPlan> plan() const {
    if (dtype != DType::float32 && dtype != DType::bfloat16) return nullptr;
    if (macs() < kSmallMacs) return nullptr;
    TidemarkDnnlConvolution c{};
    c.kind = kind;
    c.is_bfloat16 = dtype == DType::bfloat16;
    c.batch = sizes.batch;
    c.groups = sizes.groups;
    c.in_channels = sizes.in_channels;
    c.out_channels = sizes.out_channels;
    for (int d = 0; d < 3; ++d) {
      c.in[d] = sizes.in[d];
      c.out[d] = sizes.out[d];
      c.kernel[d] = sizes.kernel[d];
      c.stride[d] = sizes.stride[d];
      c.dilation[d] = sizes.dilation[d];
      c.before[d] = sizes.before[d];
      // What no window reads does not count as padding.
      const int64_t extent = (c.kernel[d] - 1) * c.dilation[d] + 1;
      // oneDNN 2.6 gives wrong results for some windows with gaps that are wider than the images.
      if (c.is_bfloat16 && c.dilation[d] > 1 && extent > c.in[d]) return nullptr;
      c.after[d] = (c.out[d] - 1) * c.stride[d] + extent - c.in[d] - c.before[d];
    }
    return convolution_plan(c);
  }
};

/// Rows of what is written, side by side.
template <class Row>
void for_rows(int64_t rows, int64_t macs, Row row) {
  const int64_t grain =
      std::clamp<int64_t>(kGrainMacs / std::max<int64_t>(1, macs / std::max<int64_t>(1, rows)), 1,
                          std::max<int64_t>(1, rows));
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) row(r);
  });
}

void run_own(const Problem& p, const void* first, const void* second, void* out) {
  const ConvolutionLoops& loops = convolution_loops().loops[static_cast<int>(p.dtype)];
  const ConvolutionSizes& s = p.sizes;
  switch (p.kind) {
    case kForward:
      return for_rows(s.batch * s.out[0] * s.out[1], p.macs(),
                      [&](int64_t r) { loops.forward(s, r, first, second, out); });
    case kInputGradient:
      return for_rows(s.batch * s.in[0] * s.in[1], p.macs(),
                      [&](int64_t r) { loops.input_gradient(s, r, second, first, out); });
    case kFilterGradient:
      return for_rows(p.window() * (s.in_channels / s.groups), p.macs(),
                      [&](int64_t r) { loops.filter_gradient(s, r, first, second, out); });
  }
}

/// Bytes of the filter's gradient in floats, where elements are narrower.
size_t float_filter_bytes(const Problem& p, const Shape& output) {
  if (p.kind != kFilterGradient || p.dtype != DType::bfloat16) return 0;
  return (static_cast<size_t>(output.num_elements()) * sizeof(float) + 63) / 64 * 64;
}

template <Kind kKind>
size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
  if (outputs[0].num_elements() == 0) return 0;
  const Problem p(kKind, call, outputs[0]);
  if (p.is_product()) return product_workspace(p.product(nullptr, nullptr));
  if (p.is_unfolded()) {
    return p.matrix_bytes() + product_workspace(p.unfolded_product(nullptr, nullptr, nullptr));
  }
  const auto plan = p.plan();
  return plan ? plan->workspace_bytes() + float_filter_bytes(p, outputs[0]) : 0;
}

void run_library(const ConvolutionPlan& plan, const Problem& p, KernelContext& k) {
  void* out = k.out<void>(0);
  char* room = k.workspace<char>();
  switch (p.kind) {
    case kForward:
      return plan.run(k.in<void>(0), k.in<void>(1), out, room);
    case kInputGradient:
      return plan.run(out, k.in<void>(1), k.in<void>(2), room);
    case kFilterGradient: {
      const size_t floats = float_filter_bytes(p, k.output(0).shape());
      plan.run(k.in<void>(0), floats ? room : out, k.in<void>(2), room + floats);
      if (!floats) return;
      const float* wide = reinterpret_cast<const float*>(room);
      BFloat16* narrow = static_cast<BFloat16*>(out);
      parallel_for(k.output(0).num_elements(), 16 << 10, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) narrow[i] = BFloat16(wide[i]);
      });
    }
  }
}

void run_unfolded(const Problem& p, KernelContext& k) {
  char* matrix = k.workspace<char>();
  char* room = matrix + p.matrix_bytes();
  if (p.kind == kInputGradient) {
    run_product(p.unfolded_product(nullptr, k.in<void>(1), k.in<void>(2)), matrix, room);
    return fold(p.sizes, reinterpret_cast<const float*>(matrix), k.out<float>(0));
  }
  unfold(p.sizes, size_of(p.dtype), k.in<void>(0), matrix);
  const void* filter = p.kind == kForward ? k.in<void>(1) : nullptr;
  const void* dy = p.kind == kForward ? nullptr : k.in<void>(2);
  run_product(p.unfolded_product(matrix, filter, dy), k.out<void>(0), room);
}

template <Kind kKind>
void run(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  const Problem p(kKind, k.call(), k.output(0).shape());
  if (p.macs() == 0) {  // nothing to sum over
    std::memset(k.out<void>(0), 0, k.output(0).nbytes());
    return;
  }
  const void* first = k.in<void>(kKind == kInputGradient ? 1 : 0);
  const void* second = k.in<void>(kKind == kForward ? 1 : 2);
  if (p.is_product()) {
    return run_product(p.product(first, second), k.out<void>(0), k.workspace<char>());
  }
  if (p.is_unfolded()) return run_unfolded(p, k);
  if (const auto plan = p.plan()) return run_library(*plan, p, k);
  run_own(p, first, second, k.out<void>(0));
}

TIDEMARK_KERNEL(convolution, kFloats, run<kForward>, workspace<kForward>);
// The key is the dtype of the sizes, which come first.
TIDEMARK_KERNEL(convolution_input_grad, kIndex, run<kInputGradient>, workspace<kInputGradient>);
TIDEMARK_KERNEL(convolution_filter_grad, kFloats, run<kFilterGradient>, workspace<kFilterGradient>);

}  // namespace

}  // namespace tidemark::cpu
