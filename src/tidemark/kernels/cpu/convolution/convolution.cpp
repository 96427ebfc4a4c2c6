// Kernels of convolution and its gradients: oneDNN for float32 and bfloat16, direct sums otherwise.

#include <tidemark/kernel.h>

#include <algorithm>
#include <cstring>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/convolution/convolution.h"
#include "tidemark/kernels/cpu/convolution/convolution_plan.h"
#include "tidemark/kernels/cpu/convolution/unfold.h"
#include "tidemark/kernels/cpu/isa/convolution_loops.h"
#include "tidemark/kernels/cpu/isa_level.h"
#include "tidemark/kernels/cpu/matmul/matmul_problem.h"
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

/// The gradient of a filter of narrow elements is summed up in floats.
void run_narrow_filter(const ConvolutionPlan& plan, KernelContext& k, size_t floats) {
  char* room = k.workspace<char>();
  plan.run(k.in<void>(0), room, k.in<void>(2), room + floats);
  const float* wide = reinterpret_cast<const float*>(room);
  BFloat16* narrow = k.out<BFloat16>(0);
  parallel_for(k.output(0).num_elements(), 16 << 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) narrow[i] = BFloat16(wide[i]);
  });
}

/// Of images and the filter; of the filter and dy; of images and dy.
void run_unfolded(const Problem& p, const void* first, const void* second, void* out,
                  char* workspace, const Epilogue* epilogue) {
  char *matrix = workspace, *room = workspace + p.matrix_bytes();
  if (p.kind == kInputGradient) {
    run_product(p.unfolded_product(nullptr, first, second), matrix, room);
    fold(p.sizes, reinterpret_cast<const float*>(matrix), static_cast<float*>(out));
    if (!epilogue) return;
    const int64_t pixels = p.sizes.batch * p.sizes.in[0] * p.sizes.in[1] * p.sizes.in[2];
    return apply_to_all(*epilogue, pixels, p.sizes.in_channels);
  }
  unfold(p.sizes, size_of(p.dtype), first, matrix);
  const bool forward = p.kind == kForward;
  run_product(p.unfolded_product(matrix, forward ? second : nullptr, forward ? nullptr : second),
              out, room, epilogue);
}

/// Forward, or the gradient of the input: what is written are images.
template <Kind kKind>
void run_images(const OpCall& call, const Shape& shape, void* out, char* workspace,
                const Epilogue* epilogue) {
  if (shape.num_elements() == 0) return;
  const Problem p(kKind, call, shape);
  const int64_t channels = shape.dim(-1), pixels = shape.num_elements() / channels;
  const void* first = call.inputs[kKind == kInputGradient ? 1 : 0].raw_data();
  const void* second = call.inputs[kKind == kForward ? 1 : 2].raw_data();
  if (p.macs() == 0) {  // nothing to sum over
    std::memset(out, 0, static_cast<size_t>(shape.num_elements()) * size_of(p.dtype));
  } else if (p.is_product()) {
    return run_product(p.product(first, second), out, workspace, epilogue);
  } else if (p.is_unfolded()) {
    return run_unfolded(p, first, second, out, workspace, epilogue);
  } else if (const auto plan = p.plan()) {
    if (kKind == kForward) return plan->run(first, second, out, workspace, epilogue);
    return plan->run(out, first, second, workspace, epilogue);
  } else {
    run_own(p, first, second, out);
  }
  if (epilogue) apply_to_all(*epilogue, pixels, channels);
}

template <Kind kKind>
void run(KernelContext& k) {
  run_images<kKind>(k.call(), k.output(0).shape(), k.out<void>(0), k.workspace<char>(), nullptr);
}

void run_filter_gradient(KernelContext& k) {
  const Shape& shape = k.output(0).shape();
  if (shape.num_elements() == 0) return;
  const Problem p(kFilterGradient, k.call(), shape);
  void* out = k.out<void>(0);
  if (p.macs() == 0) {  // nothing to sum over
    std::memset(out, 0, k.output(0).nbytes());
    return;
  }
  const void *images = k.in<void>(0), *dy = k.in<void>(2);
  if (p.is_product()) return run_product(p.product(images, dy), out, k.workspace<char>());
  if (p.is_unfolded()) return run_unfolded(p, images, dy, out, k.workspace<char>(), nullptr);
  const auto plan = p.plan();
  if (!plan) return run_own(p, images, dy, out);
  if (const size_t floats = float_filter_bytes(p, shape))
    return run_narrow_filter(*plan, k, floats);
  plan->run(images, out, dy, k.workspace());
}

template <Kind kKind>
void run_with(const OpCall& call, const Shape& shape, void* out, char* workspace,
              const Epilogue& epilogue) {
  run_images<kKind>(call, shape, out, workspace, &epilogue);
}

TIDEMARK_KERNEL_OF(cpu, convolution, kFloats, run<kForward>, workspace<kForward>);
// The key is the dtype of the sizes, which come first.
TIDEMARK_KERNEL_OF(cpu, convolution_input_grad, kIndex, run<kInputGradient>,
                   workspace<kInputGradient>);
TIDEMARK_KERNEL_OF(cpu, convolution_filter_grad, kFloats, run_filter_gradient,
                   workspace<kFilterGradient>);

}  // namespace

constinit const ProductKernel kConvolutionProduct = {run_with<kForward>, workspace<kForward>};
constinit const ProductKernel kConvolutionInputGradProduct = {run_with<kInputGradient>,
                                                              workspace<kInputGradient>};

}  // namespace tidemark::cpu
