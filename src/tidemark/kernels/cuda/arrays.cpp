// Kernels of one_hot, pad, band_part, range, add_n, ones_like and bitcast.

#include <algorithm>
#include <cstring>

#include "tidemark/base/plain_type.h"
#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark::cuda {

namespace {

using movement::int_at;

constexpr const char* kText = "arrays.h";

void run_one_hot(KernelContext& k) {
  const Shape& out = k.output(0).shape();
  const int64_t count = k.output(0).num_elements();
  const int axis = normalize_axis(k.attr("axis").as_int(), out.rank());
  int64_t inner = 1;
  for (int d = axis + 1; d < out.rank(); ++d) inner *= out[d];
  const DeviceFunction one_hot{
      kText,
      "one_hot",
      {bits_type(size_of(k.output(0).dtype())), stored_type(k.input(0).dtype())},
      ""};
  one_hot.run(
      cuda_stream_of(k), count,
      words(k.in<void>(0), k.in<void>(2), k.in<void>(3), k.out<void>(0), count, out[axis], inner));
}

void run_pad(KernelContext& k) {
  const Shape &in = k.input(0).shape(), &out = k.output(0).shape();
  const char first = k.attr("mode").as_string()[0];
  const bool is_constant = first == 'C' || first == 'c', reflects = first == 'R' || first == 'r';
  const int64_t count = k.output(0).num_elements();
  Words all = words(k.in<void>(0), k.in<void>(2), k.out<void>(0), count,
                    is_constant || out.rank() == 0 ? 0
                    : reflects                     ? 1
                                                   : 2);
  const int dims = std::max(out.rank(), 1);
  for (int d = 0; d < dims; ++d) add_word(all, d < out.rank() ? out[d] : 1);
  for (int d = 0; d < dims; ++d) add_word(all, d < out.rank() ? in[d] : 1);
  for (int d = 0; d < dims; ++d) add_word(all, d < out.rank() ? int_at(k.input(1), 2 * d) : 0);
  const DeviceFunction pad{kText,
                           "pad",
                           {bits_type(size_of(k.output(0).dtype())), std::to_string(dims)},
                           message("tm::pad_arguments<", dims, ">")};
  pad.run(cuda_stream_of(k), count, all);
}

void run_band_part(KernelContext& k) {
  const Tensor& in = k.input(0);
  if (in.num_elements() == 0) return;
  const int64_t rows = in.dim(-2), columns = in.dim(-1);
  for (int i : {1, 2}) {
    if (k.input(i).num_elements() == 1) continue;
    k.fail("num_lower and num_upper must be scalars; given shape ",
           k.input(i).shape().to_brackets());
  }
  const int64_t lower = int_at(k.input(1), 0), upper = int_at(k.input(2), 0);
  if (lower > rows) {
    k.fail("num_lower must be negative or less or equal to number of rows (", rows,
           ") got: ", lower);
  }
  if (upper > columns) {
    k.fail("num_upper must be negative or less or equal to number of columns (", columns,
           ") got: ", upper);
  }
  const DeviceFunction band{kText, "band", {bits_type(size_of(in.dtype()))}, ""};
  band.run(cuda_stream_of(k), in.num_elements(),
           words(k.in<void>(0), k.out<void>(0), in.num_elements(), rows, columns, lower, upper));
}

/// The first element of a tensor of the host, as both kinds of numbers.
template <class Use>
void with_number(const Tensor& t, const Use& use) {
  with_plain_type(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T value = *static_cast<const T*>(t.raw_data());
    if constexpr (std::is_integral_v<T>) {
      use(static_cast<int64_t>(value), 0.0);
    } else if constexpr (!is_complex(dtype_of<T>())) {
      using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
      use(int64_t{0}, static_cast<double>(static_cast<Real>(value)));
    }
  });
}

void run_range(KernelContext& k) {
  const DType dtype = k.output(0).dtype();
  const int64_t count = k.output(0).num_elements();
  const DeviceFunction range{kText, "range", {stored_type(dtype), computed_type(dtype)}, ""};
  with_number(k.input(0), [&](int64_t start, double real_start) {
    with_number(k.input(2), [&](int64_t delta, double real_delta) {
      range.run(cuda_stream_of(k), count,
                words(k.out<void>(0), count, start, delta, real_start, real_delta));
    });
  });
}

void run_add_n(KernelContext& k) {
  const Tensor& out = k.output(0);
  if (out.num_elements() == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  if (k.in<void>(0) != k.out<void>(0)) {
    stream.copy_here(k.out<void>(0), k.in<void>(0), out.nbytes());
  }
  const DeviceFunction accumulate{kText, "accumulate", {stored_type(out.dtype())}, ""};
  for (int i = 1; i < k.num_inputs(); ++i) {
    accumulate.run(stream, out.num_elements(),
                   words(k.in<void>(i), k.out<void>(0), out.num_elements()));
  }
}

void run_ones(KernelContext& k) {
  const Tensor& out = k.output(0);
  uint64_t bits[2] = {};
  with_plain_type(out.dtype(), [&](auto zero) {
    const auto one = static_cast<decltype(zero)>(1.f);
    std::memcpy(bits, &one, sizeof one);
  });
  const DeviceFunction fill{
      "loops.h", "fill_bits", {bits_type(size_of(out.dtype()))}, "tm::fill_arguments"};
  fill.run(cuda_stream_of(k), out.num_elements(),
           words(k.out<void>(0), out.num_elements(), bits[0], bits[1]));
}

void run_bitcast(KernelContext& k) {
  if (k.output(0).nbytes() == 0) return;
  cuda_stream_of(k).copy_here(k.out<void>(0), k.in<void>(0), k.output(0).nbytes());
}

constexpr DTypeSet kHotIndices = dtype_set(DType::uint8, DType::int8, DType::int32, DType::int64);

TIDEMARK_KERNEL_OF(cuda, one_hot, kHotIndices, run_one_hot);
TIDEMARK_KERNEL_OF(cuda, pad, kPlain, run_pad);
TIDEMARK_KERNEL_OF(cuda, band_part, kPlain, run_band_part);
TIDEMARK_KERNEL_OF(cuda, range, kReal, run_range);
TIDEMARK_KERNEL_OF(cuda, add_n, kNumeric, run_add_n);
TIDEMARK_KERNEL_OF(cuda, ones_like, kPlain, run_ones);
TIDEMARK_KERNEL_OF(cuda, bitcast, kPlain, run_bitcast);

}  // namespace

}  // namespace tidemark::cuda
