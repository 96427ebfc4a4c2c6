// Convolutions and products of integers that stand for reals.
#include "tidemark/io/tflite/exact_sums.h"
#include "tidemark/io/tflite/windows.h"

namespace tidemark::io::tflite {

using namespace onnx;

namespace {

DType sum_dtype(const Numbers& x) { return x.dtype == DType::int16 ? DType::int64 : DType::int32; }

/// Sums of products over the last axis of the input and of the weights.
Tensor sums_of(const Call& c, size_t input, const Product& product) {
  const Numbers x = numbers_of(c, input == 0 ? "input 0" : "input 2");
  const auto given = [&](DType wide) { return less_zero(c, input, x, wide); };
  return exact_sums(c, given, reach_of(x), sum_dtype(x), product);
}

Tensor with_bias(const Call& c, const Tensor& sums, size_t bias) {
  return c.has(bias) ? sums + as(c.in(bias), sums.dtype()) : sums;
}

/// Numbers of the output for sums of x's numbers times the weights'.
Tensor output_of_sums(const Call& c, std::string_view x, const Tensor& sums, Rounding narrow,
                      Rounding wide) {
  const Numbers input = numbers_of(c, x), output = numbers_of(c, "output 0");
  std::vector<double> factors;
  for (const float scale : scales_of(c, "input 1")) {
    factors.push_back(double{input.scale} * double{scale} / double{output.scale});
  }
  return output_of(c, sums, factors, sums.dtype() == DType::int64 ? wide : narrow);
}

Tensor conv(const Call& c) {
  const Tensor sums = sums_of(c, 0, convolved_by(c));
  return output_of_sums(c, "input 0", with_bias(c, sums, 2), Rounding::up, Rounding::brief);
}

Tensor depthwise(const Call& c) {
  const Numbers x = numbers_of(c, "input 0");
  const auto given = [&](DType wide) { return less_zero(c, 0, x, wide); };
  const Tensor sums = exact_depthwise_sums(c, given, reach_of(x), sum_dtype(x));
  return output_of_sums(c, "input 0", with_bias(c, sums, 2), Rounding::eights, Rounding::brief);
}

Tensor transposed_conv(const Call& c) {
  const Tensor sums = sums_of(c, 2, spread_by(c));
  return output_of_sums(c, "input 2", with_bias(c, sums, 3), Rounding::eights, Rounding::brief);
}

Tensor fully_connected(const Call& c) {
  const Tensor sums = sums_of(c, 0, multiplied_by_rows(c));
  return output_of_sums(c, "input 0", with_bias(c, sums, 2), Rounding::up, Rounding::once);
}

Tensor batch_matmul(const Call& c) {
  const Numbers a = numbers_of(c, "input 0"), b = numbers_of(c, "input 1");
  const bool is_left_turned = c.integer("adj_x", 0) != 0, is_right_turned = c.integer("adj_y", 0);
  const auto terms = static_cast<double>(known_dim(c.in(0), is_left_turned ? -2 : -1));
  const bool fits = terms * reach_of(a) * reach_of(b) < kExactFloats;
  const DType wide = fits ? DType::float32 : DType::float64;
  const Tensor sums =
      matmul(less_zero(c, 0, a, wide), less_zero(c, 1, b, wide), is_left_turned, is_right_turned);
  return output_of_sums(c, "input 0", as(sums, sum_dtype(a)), Rounding::away, Rounding::brief);
}

constexpr Entry kEntries[] = {
    entry("CONV_2D on integers", conv),
    entry("DEPTHWISE_CONV_2D on integers", depthwise),
    entry("TRANSPOSE_CONV on integers", transposed_conv),
    entry("FULLY_CONNECTED on integers", fully_connected),
    entry("BATCH_MATMUL on integers", batch_matmul),
};

}  // namespace

std::span<const Entry> integer_product_entries() { return kEntries; }

}  // namespace tidemark::io::tflite
