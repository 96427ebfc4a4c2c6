// Kernels of random numbers: uniform, normal and integers, from a seed or a stream that was
// reserved. They are the CPU's to the bit where its products and sums are one instruction, but for
// truncated normal numbers of float64, which are within the tolerance.

#include <cmath>

#include "tidemark/base/random_state.h"
#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/random_bounds.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "random.h";

/// Of the input "seed" or "stream", which lies on the host.
RandomStream stream_of_call(const KernelContext& k) {
  if (k.call().op.input_param(1).name == "stream") {
    const auto* stream = k.in<uint64_t>(1);
    return {stream[0], stream[1], stream[2]};
  }
  const Ints seed = k.input(1).to_ints();
  return stateless_stream(static_cast<uint64_t>(seed[0]), static_cast<uint64_t>(seed[1]));
}

/// As device/random.h has it.
struct Draw {
  double first = 0, second = 0, highest = 0;
  uint64_t low = 0, width = 0;
};

void run(KernelContext& k, const char* function, std::vector<std::string> types, const Draw& draw) {
  const Tensor& out = k.output(0);
  if (out.num_elements() == 0) return;
  types.emplace_back(stored_type(out.dtype()));
  const DeviceFunction fill{kText, function, std::move(types), "tm::draw_arguments"};
  const RandomStream stream = stream_of_call(k);
  fill.run(cuda_stream_of(k), out.num_elements(),
           words(k.out<void>(0), out.num_elements(), stream.key, stream.counter_low,
                 stream.counter_high, draw.first, draw.second, draw.highest, draw.low, draw.width));
}

void check_floating(const KernelContext& k) {
  const DType dtype = k.output(0).dtype();
  if (!is_floating(dtype)) k.fail("cannot make ", name_of(dtype), "; choose another dtype");
}

template <bool kTruncated>
void run_normal(KernelContext& k) {
  check_floating(k);
  run(k, "draw_floats", {kTruncated ? "tm::TruncatedNormal" : "tm::Normal"},
      {.first = k.attr("mean").as_real(), .second = k.attr("stddev").as_real()});
}

void run_uniform(KernelContext& k) {
  check_floating(k);
  const double low = k.attr("minval").as_real(), high = k.attr("maxval").as_real();
  run(k, "draw_floats", {"tm::Uniform"},
      {.first = low, .second = high - low, .highest = highest_of(low, high, k.output(0).dtype())});
}

void run_full_int(KernelContext& k) {
  const DType dtype = k.output(0).dtype();
  if (!is_integer(dtype)) k.fail("cannot make ", name_of(dtype), "; choose another dtype");
  run(k, "draw_integers", {}, {});
}

void run_uniform_int(KernelContext& k) {
  const IntegerBounds bounds(k, 2);
  run(k, "draw_integers", {}, {.low = bounds.low, .width = bounds.width});
}

TIDEMARK_KERNEL_OF(cuda, stream_random_normal, kIndex, run_normal<false>);
TIDEMARK_KERNEL_OF(cuda, stream_random_truncated_normal, kIndex, run_normal<true>);
TIDEMARK_KERNEL_OF(cuda, stream_random_uniform, kIndex, run_uniform);
TIDEMARK_KERNEL_OF(cuda, stateless_random_normal, kIndex, run_normal<false>);
TIDEMARK_KERNEL_OF(cuda, stateless_random_truncated_normal, kIndex, run_normal<true>);
TIDEMARK_KERNEL_OF(cuda, stateless_random_uniform, kIndex, run_uniform);
TIDEMARK_KERNEL_OF(cuda, stateless_random_uniform_int, kIndex, run_uniform_int);
TIDEMARK_KERNEL_OF(cuda, stateless_random_full_int, kIndex, run_full_int);

}  // namespace

}  // namespace tidemark::cuda
