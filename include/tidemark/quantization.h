// tf.quantization: numbers rounded as if they had few bits, with gradients for training.
//
//   td::Tensor x = td::constant({-0.3f, 0.1f, 0.72f});
//   td::Tensor y = td::quantization::fake_quant_with_min_max_args(x, {.min = -1, .max = 1});
//   td::Tensor z = td::quantization::quantize_and_dequantize(x, -1.f, 1.f, {.num_bits = 4});
#pragma once

#include <tidemark/tensor.h>

#include <optional>
#include <string>

namespace tidemark::quantization {

struct FakeQuantOptions {
  int64_t num_bits = 8;
  bool narrow_range = false;  // without the lowest of the steps
};
struct FakeQuantRangeOptions {
  double min = -6, max = 6;
  int64_t num_bits = 8;
  bool narrow_range = false;
};
/// Numbers between two bounds, rounded to 2^num_bits steps; others become the bounds, which are
/// moved so that zero is a step. Gradients go through to what lies inside, and to the bounds from
/// what lies beyond them.
TIDEMARK_API Tensor fake_quant_with_min_max_args(const Tensor& inputs,
                                                 const FakeQuantRangeOptions& options = {});
TIDEMARK_API Tensor fake_quant_with_min_max_vars(const Tensor& inputs, const Tensor& min,
                                                 const Tensor& max,
                                                 const FakeQuantOptions& options = {});
/// With bounds for each index of the last dimension.
TIDEMARK_API Tensor fake_quant_with_min_max_vars_per_channel(const Tensor& inputs,
                                                             const Tensor& min, const Tensor& max,
                                                             const FakeQuantOptions& options = {});

struct FakeQuantGradients {
  Tensor inputs, min, max;
};
/// The gradients of those by their inputs and bounds.
TIDEMARK_API Tensor fake_quant_with_min_max_args_gradient(
    const Tensor& gradients, const Tensor& inputs, const FakeQuantRangeOptions& options = {});
TIDEMARK_API FakeQuantGradients fake_quant_with_min_max_vars_gradient(
    const Tensor& gradients, const Tensor& inputs, const Tensor& min, const Tensor& max,
    const FakeQuantOptions& options = {});
TIDEMARK_API FakeQuantGradients fake_quant_with_min_max_vars_per_channel_gradient(
    const Tensor& gradients, const Tensor& inputs, const Tensor& min, const Tensor& max,
    const FakeQuantOptions& options = {});

struct QuantizeAndDequantizeOptions {
  bool signed_input = true;
  int64_t num_bits = 8;
  bool range_given = false;                 // false: the range of the elements is taken
  std::string round_mode = "HALF_TO_EVEN";  // "HALF_UP"
  bool narrow_range = false;
  std::optional<int64_t> axis = std::nullopt;  // of which each index has a range of its own
};
/// Each number as the nearest of those that so many bits tell apart. Gradients go through to what
/// lies within the range that was given.
TIDEMARK_API Tensor quantize_and_dequantize(const Tensor& input, const Tensor& input_min,
                                            const Tensor& input_max,
                                            const QuantizeAndDequantizeOptions& options = {});
TIDEMARK_API Tensor quantize_and_dequantize_v2(const Tensor& input, const Tensor& input_min,
                                               const Tensor& input_max,
                                               const QuantizeAndDequantizeOptions& options = {});

}  // namespace tidemark::quantization
