#include <tidemark/call.h>
#include <tidemark/math.h>

#include <algorithm>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::math {

namespace {

using nn::number;

Tensor flat(const Tensor& x) { return reshape(x, nn::vector_of({-1})); }

/// How many numbers are counted: up to the largest one there is, between the two limits.
Tensor bins(const Tensor& arr, const BincountOptions& options) {
  const Tensor both[] = {cast(flat(arr), DType::int32), nn::vector_of({-1})};
  Tensor count = max(concat(both, 0)) + 1;
  if (options.minlength > 0) count = maximum(count, static_cast<int32_t>(options.minlength));
  if (options.maxlength >= 0) count = minimum(count, static_cast<int32_t>(options.maxlength));
  return count;
}

/// Whether the comparison holds of each element and the next.
template <class Compare>
Tensor in_order(std::string_view name, const Tensor& x, const Compare& compare) {
  const Tensor row = flat(x);
  const int64_t count = nn::known_size(name, row, 0);
  if (count < 2) return Tensor(true);
  return all(compare(nn::part(row, 0, 0, count - 1), nn::part(row, 0, 1)));
}

/// How many rows each segment has, at least 1, shaped to divide the sums by.
Tensor segment_sizes(const Tensor& data, const Tensor& ids, int64_t num_segments) {
  const Tensor count = Tensor(static_cast<int32_t>(num_segments));
  const Tensor sizes = unsorted_segment_sum(ones_like(ids, data.dtype()), ids, count);
  Ints shape(static_cast<size_t>(data.rank() - ids.rank() + 1), 1);
  shape[0] = num_segments;
  return maximum(reshape(sizes, nn::vector_of(shape)), number(1, data));
}

Tensor segment_sum_of(const Tensor& data, const Tensor& ids, int64_t num_segments) {
  return unsorted_segment_sum(data, ids, Tensor(static_cast<int32_t>(num_segments)));
}

}  // namespace

Tensor bincount(const Tensor& arr, const BincountOptions& options) {
  TIDEMARK_HERE;
  const bool is_index = arr.dtype() == DType::int32 || arr.dtype() == DType::int64;
  Tensor numbers = is_index ? arr : cast(arr, DType::int32);
  const Tensor size = bins(numbers, options);
  if (!options.by_row) {
    numbers = flat(numbers);
  } else if (numbers.rank() == 1) {
    numbers = expand_dims(numbers, 0);
  }
  Tensor weights = options.weights;
  if (!weights) {
    weights = cast(nn::vector_of({}), options.dtype);
  } else if (!options.by_row) {
    weights = flat(weights);
  }
  return tidemark::bincount(numbers, size, weights, options.binary_output);
}

Tensor confusion_matrix(const Tensor& labels, const Tensor& predictions,
                        const ConfusionMatrixOptions& options) {
  TIDEMARK_HERE;
  const Tensor pair[] = {cast(labels, DType::int64), cast(predictions, DType::int64)};
  const Tensor pairs = stack(pair, 1);
  const Tensor values = options.weights ? cast(options.weights, options.dtype)
                                        : ones_like(predictions, options.dtype);
  const Tensor classes =
      options.num_classes >= 0 ? Tensor(options.num_classes) : max(pairs) + Tensor(int64_t{1});
  const Tensor sizes[] = {classes, classes};
  return scatter_nd(pairs, values, stack(sizes, 0));
}

Tensor count_nonzero(const Tensor& input, const CountNonzeroOptions& options) {
  TIDEMARK_HERE;
  const Tensor is_counted =
      input.dtype() == DType::bool_ ? input : not_equal(input, zeros_like(input));
  return cast(sum(cast(is_counted, DType::int64), options.axis, options.keepdims), options.dtype);
}

Tensor zero_fraction(const Tensor& value) {
  TIDEMARK_HERE;
  return mean(cast(equal(value, number(0, value)), DType::float32));
}

TopK top_k(const Tensor& input, const Tensor& k, const TopKOptions& options) {
  TIDEMARK_HERE;
  std::vector<Tensor> both = tidemark::top_k(input, k, options.sorted, options.index_type);
  return {std::move(both[0]), std::move(both[1])};
}

TopK approx_max_k(const Tensor& operand, int64_t k) {
  TIDEMARK_HERE;
  return top_k(operand, static_cast<int32_t>(k));
}

TopK approx_min_k(const Tensor& operand, int64_t k) {
  TIDEMARK_HERE;
  TopK found = top_k(-operand, static_cast<int32_t>(k));
  return {-found.values, std::move(found.indices)};
}

Tensor is_non_decreasing(const Tensor& x) {
  TIDEMARK_HERE;
  return in_order("is_non_decreasing", x,
                  [](const Tensor& a, const Tensor& b) { return less_equal(a, b); });
}

Tensor is_strictly_increasing(const Tensor& x) {
  TIDEMARK_HERE;
  return in_order("is_strictly_increasing", x,
                  [](const Tensor& a, const Tensor& b) { return less(a, b); });
}

Tensor accumulate_n(const std::vector<Tensor>& inputs) {
  TIDEMARK_HERE;
  if (inputs.empty()) fail("[accumulate_n] there are no tensors");
  return add_n(inputs);
}

Tensor polyval(const std::vector<Tensor>& coeffs, const Tensor& x) {
  TIDEMARK_HERE;
  if (coeffs.empty()) return zeros_like(x);
  Tensor total = coeffs[0];
  for (size_t i = 1; i < coeffs.size(); ++i) total = coeffs[i] + total * x;
  return total;
}

Tensor reciprocal_no_nan(const Tensor& x) {
  TIDEMARK_HERE;
  return divide_no_nan(number(1, x), x);
}

Tensor unsorted_segment_mean(const Tensor& data, const Tensor& segment_ids, int64_t num_segments) {
  TIDEMARK_HERE;
  return segment_sum_of(data, segment_ids, num_segments) /
         segment_sizes(data, segment_ids, num_segments);
}

Tensor unsorted_segment_sqrt_n(const Tensor& data, const Tensor& segment_ids,
                               int64_t num_segments) {
  TIDEMARK_HERE;
  return segment_sum_of(data, segment_ids, num_segments) /
         sqrt(segment_sizes(data, segment_ids, num_segments));
}

Tensor bessel_i0(const Tensor& x) {
  TIDEMARK_HERE;
  return exp(abs(x)) * bessel_i0e(x);
}

Tensor bessel_i1(const Tensor& x) {
  TIDEMARK_HERE;
  return exp(abs(x)) * bessel_i1e(x);
}

Tensor erfcinv(const Tensor& x) {
  TIDEMARK_HERE;
  return ndtri(x * number(0.5, x)) * number(-0.7071067811865476, x);
}

Tensor lbeta(const Tensor& x) {
  TIDEMARK_HERE;
  return sum(lgamma(x), Ints{-1}) - lgamma(sum(x, Ints{-1}));
}

}  // namespace tidemark::math
