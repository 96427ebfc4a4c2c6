#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/ops.h>

#include <algorithm>
#include <cmath>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark {

namespace {

Tensor vector_norm(const Tensor& magnitudes, double ord, const std::optional<Ints>& axis,
                   bool keepdims) {
  if (ord <= 0 || std::isnan(ord)) {
    fail("[norm] `ord` of a vector is positive. Received: ", ord);
  }
  if (ord == 1) return sum(magnitudes, axis, keepdims);
  if (ord == 2) return sqrt(sum(square(magnitudes), axis, keepdims));
  if (std::isinf(ord)) return max(magnitudes, axis, keepdims);
  const Tensor powers = pow(magnitudes, nn::number(ord, magnitudes));
  return pow(sum(powers, axis, keepdims), nn::number(1 / ord, magnitudes));
}

/// The largest singular value of the matrices in two dimensions.
Tensor spectral_norm(const Tensor& x, int rows, int columns, bool keepdims) {
  Ints order;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != rows && i != columns) order.push_back(i);
  }
  order.push_back(rows);
  order.push_back(columns);
  Tensor largest = max(svd(transpose(x, order), false, false)[0], Ints{-1});
  if (!keepdims) return largest;
  return expand_dims(expand_dims(largest, std::min(rows, columns)), std::max(rows, columns));
}

/// The largest sum of a column (1) or of a row (infinity), or the largest singular value (2).
Tensor matrix_norm(const Tensor& x, double ord, const Ints& axis, bool keepdims) {
  nn::check_rank("norm", x, 2);
  const int rows = normalize_axis(axis[0], x.rank()), columns = normalize_axis(axis[1], x.rank());
  if (rows == columns) fail("[norm] the two axes of a matrix differ. Received: ", axis[0]);
  if (ord == 2) return spectral_norm(x, rows, columns, keepdims);
  if (ord != 1 && !(std::isinf(ord) && ord > 0)) {
    fail("[norm] `ord` of a matrix is 1, 2 or infinity. Received: ", ord);
  }
  const int64_t summed = ord == 1 ? rows : columns, compared = ord == 1 ? columns : rows;
  const Tensor largest = max(sum(abs(x), Ints{summed}, true), Ints{compared}, true);
  return keepdims ? largest : squeeze(largest, Ints{rows, columns});
}

}  // namespace

Tensor norm(const Tensor& tensor, const NormOptions& options) {
  TIDEMARK_HERE;
  if (options.ord && options.axis.size() == 2) {
    return matrix_norm(tensor, *options.ord, options.axis, options.keepdims);
  }
  if (options.ord && options.axis.size() > 1) {
    fail("[norm] with `ord`, `axis` is one of a vector, or two of matrices. Received: ",
         options.axis.size());
  }
  const std::optional<Ints> axis =
      options.axis.empty() ? std::nullopt : std::optional(options.axis);
  return vector_norm(abs(tensor), options.ord.value_or(2), axis, options.keepdims);
}

}  // namespace tidemark
