// tf.math beyond the ops: counts, orders, polynomials, special functions.
//
//   td::Tensor counts = td::math::bincount(td::constant({1, 2, 2, 5}), {.minlength = 8});
//   auto [values, places] = td::math::top_k(td::constant({3.f, 9.f, 4.f}), 2);
//   td::Tensor p = td::math::polyval({1.f, 0.f, -2.f}, values);       // x² - 2
//
// Those that are ops (td::math::reduce_sum, td::math::erf, …) are in <tidemark/ops.h>.
#pragma once

#include <tidemark/linalg.h>
#include <tidemark/ops.h>

#include <optional>
#include <vector>

namespace tidemark::math {

using linalg::l2_normalize;
using tidemark::divide;
using tidemark::divide_no_nan;
using tidemark::scalar_mul;
using tidemark::truediv;

struct BincountOptions {
  Tensor weights = {};  // none: each counts 1, as an int32
  int64_t minlength = 0, maxlength = -1;
  DType dtype = DType::int32;
  bool by_row = false;  // TensorFlow's axis=-1: the numbers of each row apart
  bool binary_output = false;
};
/// How often each number comes up, or the sum of its weights.
TIDEMARK_API Tensor bincount(const Tensor& arr, const BincountOptions& options = {});
struct ConfusionMatrixOptions {
  int64_t num_classes = -1;  // -1: as many as there are
  Tensor weights = {};
  DType dtype = DType::int32;
};
/// How often each label (row) was predicted as each class (column).
TIDEMARK_API Tensor confusion_matrix(const Tensor& labels, const Tensor& predictions,
                                     const ConfusionMatrixOptions& options = {});
struct CountNonzeroOptions {
  std::optional<Ints> axis = std::nullopt;
  bool keepdims = false;
  DType dtype = DType::int64;
};
/// How many elements are not zero; of strings, not empty.
TIDEMARK_API Tensor count_nonzero(const Tensor& input, const CountNonzeroOptions& options = {});
/// Which part of the elements is zero; NaN of none.
TIDEMARK_API Tensor zero_fraction(const Tensor& value);

struct TopK {
  Tensor values, indices;
};
struct TopKOptions {
  bool sorted = true;
  DType index_type = DType::int32;
};
/// The k largest values along the last dimension, and where they are.
TIDEMARK_API TopK top_k(const Tensor& input, const Tensor& k, const TopKOptions& options = {});
/// The same, and the k smallest. TensorFlow's may miss some; these are exact.
TIDEMARK_API TopK approx_max_k(const Tensor& operand, int64_t k);
TIDEMARK_API TopK approx_min_k(const Tensor& operand, int64_t k);
/// Whether no element is below the one before it, or each is above it.
TIDEMARK_API Tensor is_non_decreasing(const Tensor& x);
TIDEMARK_API Tensor is_strictly_increasing(const Tensor& x);

TIDEMARK_API Tensor accumulate_n(const std::vector<Tensor>& inputs);
/// The polynomial with the coefficients, the highest first, at x.
TIDEMARK_API Tensor polyval(const std::vector<Tensor>& coeffs, const Tensor& x);
/// 1 / x, and 0 where x is 0.
TIDEMARK_API Tensor reciprocal_no_nan(const Tensor& x);
/// The mean of the rows of each segment, or their sum over the root of their number; zeros for one
/// without rows.
TIDEMARK_API Tensor unsorted_segment_mean(const Tensor& data, const Tensor& segment_ids,
                                          int64_t num_segments);
TIDEMARK_API Tensor unsorted_segment_sqrt_n(const Tensor& data, const Tensor& segment_ids,
                                            int64_t num_segments);

/// Modified Bessel functions of order 0 and 1.
TIDEMARK_API Tensor bessel_i0(const Tensor& x);
TIDEMARK_API Tensor bessel_i1(const Tensor& x);
/// The inverse of erfc.
TIDEMARK_API Tensor erfcinv(const Tensor& x);
/// The logarithm of the magnitude of the beta function along the last dimension.
TIDEMARK_API Tensor lbeta(const Tensor& x);

namespace special {
using math::bessel_i0;
using math::bessel_i1;
}  // namespace special

}  // namespace tidemark::math
