// What limits of random numbers mean, for the kernels of all devices.
#pragma once

#include <tidemark/kernel.h>

#include <cmath>

namespace tidemark {

/// The greatest number of the dtype below `high`; with equal or swapped bounds there is nothing to
/// stay below.
inline double highest_of(double low, double high, DType dtype) {
  if (!(high > low)) return INFINITY;
  switch (dtype) {
    case DType::float64:
      return std::nextafter(high, -INFINITY);
    case DType::float32:
      return std::nextafterf(static_cast<float>(high), -INFINITY);
    default: {
      // One step of the mantissa (7 bits, or 10 of float16) below the bound.
      const double step = dtype == DType::bfloat16 ? 0x1p-7 : 0x1p-10;
      return high - std::ldexp(step, std::ilogb(high == 0 ? 1e-7 : high));
    }
  }
}

/// Two scalar inputs of any integer dtype, signs kept in two's complement.
struct IntegerBounds {
  uint64_t low, width;

  IntegerBounds(const KernelContext& k, int first) : low(scalar(k, first)) {
    const uint64_t high = scalar(k, first + 1);
    const bool is_unsigned = kUnsignedInts.contains(k.output(0).dtype());
    const bool ordered =
        is_unsigned ? low < high : static_cast<int64_t>(low) < static_cast<int64_t>(high);
    if (!ordered && k.output(0).num_elements() > 0) {
      k.fail("Need minval < maxval, got ", static_cast<int64_t>(low),
             " >= ", static_cast<int64_t>(high));
    }
    width = high - low;
  }

 private:
  static uint64_t scalar(const KernelContext& k, int input) {
    const Tensor& t = k.input(input);
    if (t.num_elements() != 1) {
      k.fail("'", k.call().op.input_param(input).name, "' must be a scalar; given shape ",
             t.shape());
    }
    if (t.dtype() == DType::uint64) return *t.data<uint64_t>();
    return static_cast<uint64_t>(t.to_ints()[0]);
  }
};

}  // namespace tidemark
