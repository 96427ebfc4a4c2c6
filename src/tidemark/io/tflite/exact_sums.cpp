#include "tidemark/io/tflite/exact_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tidemark/io/tflite/windows.h"

namespace tidemark::io::tflite {

using namespace onnx;

namespace {

constexpr int64_t kMostParts = 64;
constexpr double kMostWeight = 255;  // less its zero

/// The magnitudes of weights [out, …, in], added up for each out and in.
std::vector<double> totals_of(const Tensor& weights) {
  const int64_t outs = weights.dim(0), ins = weights.dim(-1);
  const int64_t each = weights.num_elements() / outs;
  const std::span<const float> values = weights.values<float>();
  std::vector<double> totals(static_cast<size_t>(outs * ins), 0);
  for (int64_t out = 0; out < outs; ++out) {
    for (int64_t at = 0; at < each; ++at) {
      totals[static_cast<size_t>(out * ins + at % ins)] +=
          std::abs(values[static_cast<size_t>(out * each + at)]);
    }
  }
  return totals;
}

/// Into how many parts along their last axis weights are cut so that floats hold the sums of
/// each. 0: floats hold none.
int64_t parts_for(const Tensor& weights, double reach) {
  if (weights.num_elements() == 0) return 1;
  const std::vector<double> totals = totals_of(weights);
  const int64_t outs = weights.dim(0), ins = weights.dim(-1);
  for (int64_t parts = 1; parts <= std::min(kMostParts, ins); parts *= 2) {
    double most = 0;
    for (int64_t out = 0; out < outs; ++out) {
      const auto row = totals.begin() + out * ins;
      for (int64_t part = 0; part < parts; ++part) {
        const auto begin = row + ins * part / parts, end = row + ins * (part + 1) / parts;
        most = std::max(most, std::accumulate(begin, end, 0.0));
      }
    }
    if (most * reach < kExactFloats) return parts;
  }
  return 0;
}

/// Weights less their zero, at once where they are known.
Tensor weights_of(const Call& c, DType wide) {
  const Tensor& w = c.in(1);
  const NowIfKnown now(w);
  return less_zero(c, 1, numbers_of(c, "input 1"), wide);
}

/// Filters in another order, at once where they are known.
Tensor laid_out(const Tensor& filters, std::initializer_list<int64_t> order) {
  const NowIfKnown now(filters);
  return transposed(filters, order);
}

}  // namespace

double reach_of(const Numbers& x) {
  const Numbers::Range range = x.range();
  return std::max(std::abs(static_cast<double>(range.low) - x.zero),
                  std::abs(static_cast<double>(range.high) - x.zero));
}

Tensor exact_sums(const Call& c, const Given& x, double reach, DType whole,
                  const Product& product) {
  int64_t parts = 0;
  if (!c.in(1).is_symbolic()) parts = parts_for(weights_of(c, DType::float32), reach);
  const DType wide = parts == 0 ? DType::float64 : DType::float32;
  const Tensor given = x(wide), weights = weights_of(c, wide);
  if (parts <= 1) return as(product(given, weights), whole);
  const int64_t ins = weights.dim(-1);
  std::vector<Tensor> sums;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = ins * part / parts, end = ins * (part + 1) / parts;
    const auto cut = [&](const Tensor& t) { return sliced(t, rank_of(t) - 1, begin, end); };
    const auto piece = [&] {
      const NowIfKnown now(weights);
      return cut(weights);
    };
    sums.push_back(as(product(cut(given), piece()), whole));
  }
  return add_n(sums);
}

/// Filters are [1, height, width, channels * multiplier].
Tensor exact_depthwise_sums(const Call& c, const Given& x, double reach, DType whole) {
  check_rank(c, c.in(1), 4);
  const Ints window{known_dim(c.in(1), 1), known_dim(c.in(1), 2)};
  const double taps = static_cast<double>(window[0]) * static_cast<double>(window[1]);
  const bool fits = taps * reach * kMostWeight < kExactFloats;
  const DType wide = fits ? DType::float32 : DType::float64;
  const Tensor w = weights_of(c, wide);
  const auto filters = [&] {
    const NowIfKnown now(w);
    return reshaped(w, {window[0], window[1], 1, known_dim(w, 3)});
  };
  return as(convolution(x(wide), filters(), steps_of(c, {"stride_h", "stride_w"}), padding_of(c),
                        {}, steps_of(c, {"dilation_h", "dilation_w"})),
            whole);
}

Product convolved_by(const Call& c) {
  check_rank(c, c.in(1), 4);
  return [&c](const Tensor& x, const Tensor& w) {
    return convolution(x, laid_out(w, {1, 2, 3, 0}), steps_of(c, {"stride_h", "stride_w"}),
                       padding_of(c), {}, steps_of(c, {"dilation_h", "dilation_w"}));
  };
}

Product spread_by(const Call& c) {
  check_rank(c, c.in(1), 4);
  return [&c](const Tensor& x, const Tensor& w) {
    return convolution_input_grad(c.in(0), laid_out(w, {1, 2, 0, 3}), x,
                                  steps_of(c, {"stride_h", "stride_w"}), padding_of(c), {},
                                  Ints{1, 1});
  };
}

Product multiplied_by_rows(const Call& c) {
  if (c.integer("format", 0) != 0) {
    tidemark::fail<UnimplementedError>("shuffled weights are not read");
  }
  check_rank(c, c.in(1), 2);
  return [&c](const Tensor& x, const Tensor& w) {
    // A part of the columns has the rows of the whole.
    const bool is_flat = c.integer("keep_num_dims", 0) == 0 && rank_of(x) != 2;
    return matmul(is_flat ? reshaped(x, {-1, known_dim(w, 1)}) : x, w, false, true);
  };
}

}  // namespace tidemark::io::tflite
