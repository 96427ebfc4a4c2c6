// Axes are transformed one after the other, from the input into the output and there in place. The
// library does not scale, and what becomes real it writes over: that is copied first, as is what
// does not begin where the library takes it.

#include "tidemark/kernels/cuda/fourier.h"

#include <algorithm>

#include "tidemark/base/backend.h"
#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/emit.h"

namespace tidemark::cuda {

namespace {

constexpr size_t kAlignment = 16;

size_t rounded_up(size_t bytes) { return (bytes + 255) / 256 * 256; }
Address address(const void* data) { return reinterpret_cast<Address>(data); }

Transforms& transforms_of(const OpCall& call) {
  for (const Tensor& t : call.inputs) {
    if (t.device().is_cpu()) continue;
    return static_cast<CudaStream&>(accelerator_of(t.device()).stream()).tools().transforms;
  }
  fail<InternalError>("[", call.op.name(), "] runs on a GPU and reads nothing there");
}

/// Of lines that lie one behind the other on both sides.
Transform of_rows(Transform::Kind kind, bool is_double, int64_t n, int64_t lines) {
  const int64_t half = n / 2 + 1;
  return {kind, is_double,
          n,    lines,
          1,    kind == Transform::to_real ? half : n,
          1,    kind == Transform::from_real ? half : n};
}

/// Lines along an axis: a transform of those of one outer index, and how many of these there are.
struct AlongAxis {
  Transform transform;
  int64_t outer, outer_step;

  AlongAxis(const Shape& shape, int axis, bool inverse, bool is_double) {
    const int64_t n = shape[axis];
    int64_t inner = 1;
    outer = 1;
    for (int d = 0; d < shape.rank(); ++d) {
      if (d != axis) (d < axis ? outer : inner) *= shape[d];
    }
    outer_step = n * inner;
    const auto kind = inverse ? Transform::backward : Transform::forward;
    if (inner == 1) {
      transform = of_rows(kind, is_double, n, outer);
      outer = 1;
    } else {
      transform = {kind, is_double, n, inner, inner, 1, inner, 1};
    }
  }
};

std::vector<AlongAxis> axes_of(const OpCall& call) {
  const Tensor& x = call.inputs[0];
  std::vector<AlongAxis> all;
  for (const int64_t given : call.attr("axes").as_ints()) {
    const int axis = static_cast<int>(given < 0 ? given + static_cast<int64_t>(x.rank()) : given);
    all.emplace_back(x.shape(), axis, call.attr("inverse").as_bool(),
                     x.dtype() == DType::complex128);
  }
  return all;
}

size_t fft_workspace(const OpCall& call, std::span<const Shape>) {
  if (call.inputs[0].num_elements() == 0) return 0;
  size_t most = 0;
  for (const AlongAxis& one : axes_of(call)) {
    most = std::max(most, transforms_of(call).workspace_of(one.transform));
  }
  return most;
}

/// out = out * factor, of real numbers, two of which a complex one is.
void scale(KernelContext& k, double factor) {
  const Tensor& out = k.output(0);
  const bool is_double = out.dtype() == DType::complex128 || out.dtype() == DType::float64;
  const int64_t count = out.num_elements() * (is_complex(out.dtype()) ? 2 : 1);
  const DeviceFunction scale{"fourier.h", "scale", {is_double ? "double" : "float"}, ""};
  scale.run(cuda_stream_of(k), count, words(k.out<void>(0), count, factor));
}

void run_fft(KernelContext& k) {
  const Tensor& x = k.input(0);
  if (x.num_elements() == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  const std::vector<AlongAxis> axes = axes_of(k.call());
  const auto size = static_cast<int64_t>(size_of(x.dtype()));
  Address from = address(k.in<void>(0));
  const Address to = address(k.out<void>(0));
  // Whatever does not begin where the library takes it, and each part of several.
  const bool is_taken = !axes.empty() && from % kAlignment == 0 &&
                        (axes[0].outer == 1 || axes[0].outer_step * size % kAlignment == 0);
  if (!is_taken && from != to) {
    stream.copy_here(k.out<void>(0), k.in<void>(0), x.nbytes());
    from = to;
  }
  double factor = 1;
  for (const AlongAxis& one : axes) {
    const size_t bytes = stream.tools().transforms.workspace_of(one.transform);
    for (int64_t o = 0; o < one.outer; ++o) {
      const auto offset = static_cast<Address>(o * one.outer_step * size);
      stream.tools().transforms.run(
          one.transform,
          {from + offset, to + offset, address(k.workspace()), bytes, stream.handle()});
    }
    from = to;
    factor /= static_cast<double>(one.transform.n);
  }
  if (k.attr("inverse").as_bool() && !axes.empty()) scale(k, factor);
}

/// Between real lines of n and complex ones of half as many.
Transform real_transform(const OpCall& call, const Tensor& real, int64_t n) {
  const bool is_double = real.dtype() == DType::float64 || real.dtype() == DType::complex128;
  const bool is_forward = call.op.name() == "rfft";
  const int64_t width = is_forward ? n : n / 2 + 1;
  return of_rows(is_forward ? Transform::from_real : Transform::to_real, is_double, n,
                 width == 0 ? 0 : call.inputs[0].num_elements() / width);
}

int64_t length_of(const OpCall& call) {
  return call.op.name() == "rfft" ? call.inputs[0].dim(-1) : call.attr("length").as_int();
}

size_t real_workspace(const OpCall& call, std::span<const Shape>) {
  if (call.inputs[0].num_elements() == 0) return 0;
  const Transform transform = real_transform(call, call.inputs[0], length_of(call));
  return rounded_up(call.inputs[0].nbytes()) + transforms_of(call).workspace_of(transform);
}

void run_real(KernelContext& k) {
  const Tensor& x = k.input(0);
  if (x.num_elements() == 0) {
    if (k.output(0).nbytes() > 0) {
      cuda_stream_of(k).fill_zeros(k.out<void>(0), k.output(0).nbytes());
    }
    return;
  }
  CudaStream& stream = cuda_stream_of(k);
  const int64_t n = length_of(k.call());
  const Transform transform = real_transform(k.call(), x, n);
  const bool to_real = transform.kind == Transform::to_real;
  const size_t copied = rounded_up(x.nbytes());
  Address from = address(k.in<void>(0));
  if (to_real || from % kAlignment != 0) {
    stream.copy_here(k.workspace(), k.in<void>(0), x.nbytes());
    from = address(k.workspace());
  }
  if (to_real) {
    const DeviceFunction make_real{
        "fourier.h", "make_ends_real", {transform.is_double ? "double" : "float"}, ""};
    make_real.run(stream, transform.lines, words(k.workspace(), transform.lines, n));
  }
  const size_t bytes = stream.tools().transforms.workspace_of(transform);
  stream.tools().transforms.run(
      transform, {from, address(k.out<void>(0)),
                  address(static_cast<char*>(k.workspace()) + copied), bytes, stream.handle()});
  if (to_real) scale(k, 1 / static_cast<double>(n));
}

constexpr Kernel kFft{run_fft, fft_workspace}, kReal{run_real, real_workspace};

}  // namespace

const Kernel* find_fourier(const OpDef& op, DType key) {
  const bool is_real = key == DType::float32 || key == DType::float64;
  if (op.name() == "fft") return is_complex(key) ? &kFft : nullptr;
  if (op.name() == "rfft") return is_real ? &kReal : nullptr;
  return op.name() == "irfft" && is_complex(key) ? &kReal : nullptr;
}

}  // namespace tidemark::cuda
