// Functions of TensorFlow that are more than an op, under its names.
//
//   td::Tensor x = td::constant({{1.f, 2.f}, {3.f, 4.f}});        // float32, (2, 2)
//   td::Tensor y = td::where(td::greater(x, 2.f), x, td::zeros_like(x));
//   td::Tensor z = td::one_hot(td::constant({0, 1}), 2) * td::norm(y) + td::eye(2);
//
// Those of a namespace have a header of its name: <tidemark/math.h>, <tidemark/linalg.h>,
// <tidemark/signal.h>, <tidemark/strings.h>, <tidemark/image.h>; tf.nn's are in
// <tidemark/nn_functions.h>.
#pragma once

#include <tidemark/attr.h>
#include <tidemark/tensor.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

/// TensorFlow's names of dtypes; td::DType::bool_ and td::DType::string stay as they are.
inline constexpr DType float16 = DType::float16, bfloat16 = DType::bfloat16;
inline constexpr DType half = float16, float32 = DType::float32, float64 = DType::float64;
inline constexpr DType int8 = DType::int8, int16 = DType::int16, int32 = DType::int32;
inline constexpr DType int64 = DType::int64, uint8 = DType::uint8, uint16 = DType::uint16;
inline constexpr DType uint32 = DType::uint32, uint64 = DType::uint64;
inline constexpr DType complex64 = DType::complex64, complex128 = DType::complex128;

namespace detail {

TIDEMARK_API Tensor constant_of(DType dtype, const void* values, int64_t count, const Shape& shape,
                                const void* caller);
/// A constant whose rows are lists; throws InvalidArgumentError where they differ in length.
struct RowOfConstant {
  const void* values;
  size_t count;
};
TIDEMARK_API Tensor constant_of_rows(DType dtype, std::span<const RowOfConstant> rows,
                                     const void* caller);

}  // namespace detail

/// A scalar, a vector or a matrix, of the dtype of its elements. Not inlined, so that the return
/// address is a place in the caller's code.
template <class T>
[[gnu::noinline]] Tensor constant(T value) {
  return detail::constant_of(dtype_of<T>(), &value, 1, {}, __builtin_return_address(0));
}
template <class T>
[[gnu::noinline]] Tensor constant(std::initializer_list<T> values) {
  const auto count = static_cast<int64_t>(values.size());
  return detail::constant_of(dtype_of<T>(), values.begin(), count, {count},
                             __builtin_return_address(0));
}
template <class T>
[[gnu::noinline]] Tensor constant(std::initializer_list<std::initializer_list<T>> values) {
  std::vector<detail::RowOfConstant> rows;
  for (const std::initializer_list<T>& row : values) rows.push_back({row.begin(), row.size()});
  return detail::constant_of_rows(dtype_of<T>(), rows, __builtin_return_address(0));
}
/// The elements in another shape of as many.
template <class T>
[[gnu::noinline]] Tensor constant(std::initializer_list<T> values, const Shape& shape) {
  return detail::constant_of(dtype_of<T>(), values.begin(), static_cast<int64_t>(values.size()),
                             shape, __builtin_return_address(0));
}

/// A string, or several.
TIDEMARK_API Tensor constant(const char* value);
TIDEMARK_API Tensor constant(std::initializer_list<const char*> values);

/// The value, as another dtype where one is told.
TIDEMARK_API Tensor convert_to_tensor(const Tensor& value,
                                      const std::optional<DType>& dtype = std::nullopt);
/// x where the condition holds, else y.
TIDEMARK_API Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y);
/// The places at which the condition holds, int64 [places, rank].
TIDEMARK_API Tensor where(const Tensor& condition);
/// 1 at the index along a new last axis of `depth`, else 0.
TIDEMARK_API Tensor one_hot(const Tensor& indices, int64_t depth, DType dtype = DType::float32);
/// 1 on the diagonal, else 0; `columns`: as many as rows unless told.
TIDEMARK_API Tensor eye(int64_t rows, int64_t columns = -1, DType dtype = DType::float32);

/// The bytes of a file, a string.
TIDEMARK_API Tensor read_file(const char* path);
TIDEMARK_API Tensor read_file(const std::string& path);

// --- numbers ------------------------------------------------------------------------------------

/// x / y; integers give floats.
TIDEMARK_API Tensor divide(const Tensor& x, const Tensor& y);
TIDEMARK_API Tensor realdiv(const Tensor& x, const Tensor& y);
/// A scalar times a tensor.
TIDEMARK_API Tensor scalar_mul(const Tensor& scalar, const Tensor& x);
/// As cast, but values beyond the range of the dtype become its smallest or largest.
TIDEMARK_API Tensor saturate_cast(const Tensor& value, DType dtype);
/// The product summed over the last `axes` dimensions of a and the first of b.
TIDEMARK_API Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes);
/// The same over pairs of dimensions.
TIDEMARK_API Tensor tensordot(const Tensor& a, const Tensor& b, const Ints& a_axes,
                              const Ints& b_axes);

struct NormOptions {
  std::optional<double> ord = std::nullopt;  // none: euclidean, of matrices Frobenius's
  Ints axis = {};                            // none: of all elements; two: of matrices
  bool keepdims = false;
};
/// The norm of vectors (`ord` 1, 2, …, infinity) or of matrices (1, 2, infinity).
TIDEMARK_API Tensor norm(const Tensor& tensor, const NormOptions& options = {});
/// The root of the sum of the squares of all.
TIDEMARK_API Tensor global_norm(const std::vector<Tensor>& tensors);
/// As long as it is, or as `clip_norm` where that is less; along the axes, if there are any.
TIDEMARK_API Tensor clip_by_norm(const Tensor& t, double clip_norm,
                                 const std::optional<Ints>& axes = std::nullopt);
/// The same of all together; and how long they were, or `use_norm` for that.
TIDEMARK_API std::pair<std::vector<Tensor>, Tensor> clip_by_global_norm(
    const std::vector<Tensor>& tensors, double clip_norm, const Tensor& use_norm = {});

struct HistogramOptions {
  int64_t nbins = 100;
  DType dtype = DType::int32;
};
/// The bin of each value among `nbins` of equal width from low to high; those outside go to the
/// ends.
TIDEMARK_API Tensor histogram_fixed_width_bins(const Tensor& values, double low, double high,
                                               const HistogramOptions& options = {});
/// How many values are in each bin.
TIDEMARK_API Tensor histogram_fixed_width(const Tensor& values, double low, double high,
                                          const HistogramOptions& options = {});

// --- taking and putting -------------------------------------------------------------------------

/// Coordinate matrices of coordinate vectors; "xy" has the first two dimensions in turn.
TIDEMARK_API std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors,
                                          const std::string& indexing = "xy");
struct SequenceMaskOptions {
  int64_t maxlen = -1;  // -1: as long as the longest
  DType dtype = DType::bool_;
};
/// Rows that are true at the first lengths[i] places.
TIDEMARK_API Tensor sequence_mask(const Tensor& lengths, const SequenceMaskOptions& options = {});
/// The coordinates that flat indices have in a tensor of the given sizes, as rows.
TIDEMARK_API Tensor unravel_index(const Tensor& indices, const Ints& dims);
/// The slices of `data` sorted into lists by the number that each of them has.
TIDEMARK_API std::vector<Tensor> dynamic_partition(const Tensor& data, const Tensor& partitions,
                                                   int64_t num_partitions);
/// Row indices[m][i] of the result is data[m][i]; of several, the last.
TIDEMARK_API Tensor dynamic_stitch(const std::vector<Tensor>& indices,
                                   const std::vector<Tensor>& data);
TIDEMARK_API Tensor parallel_stack(const std::vector<Tensor>& values);
TIDEMARK_API std::vector<Tensor> identity_n(const std::vector<Tensor>& input);
TIDEMARK_API std::vector<Tensor> shape_n(const std::vector<Tensor>& input,
                                         DType out_type = DType::int32);
/// The shape that both broadcast to.
TIDEMARK_API Shape broadcast_static_shape(const Shape& shape_x, const Shape& shape_y);
/// The same of shapes that are tensors.
TIDEMARK_API Tensor broadcast_dynamic_shape(const Tensor& shape_x, const Tensor& shape_y);
/// Paddings that make sizes divisible by the block, and the crops that undo them, [dimensions, 2].
TIDEMARK_API std::pair<Tensor, Tensor> required_space_to_batch_paddings(
    const Tensor& input_shape, const Tensor& block_shape, const Tensor& base_paddings = {});
/// Blocks of a volume [batch, planes, rows, columns, depth], each put into the depth: sizes and
/// strides of the three dimensions between.
TIDEMARK_API Tensor extract_volume_patches(const Tensor& input, const Ints& ksizes,
                                           const Ints& strides, const std::string& padding);
/// Pixels that lie a block apart become pictures of their own, along the batch. A pair of paddings
/// for each size of the block.
TIDEMARK_API Tensor space_to_batch(const Tensor& input, const Ints& block_shape,
                                   const std::vector<Ints>& paddings);
TIDEMARK_API Tensor space_to_batch_nd(const Tensor& input, const Ints& block_shape,
                                      const std::vector<Ints>& paddings);
/// That undone, and the edges cut off.
TIDEMARK_API Tensor batch_to_space(const Tensor& input, const Ints& block_shape,
                                   const std::vector<Ints>& crops);

struct ApproxTopKOptions {
  int64_t reduction_dimension = -1;
  bool is_max_k = true;  // false: the smallest
};
/// The k largest along a dimension, and where they are: all of them are found.
TIDEMARK_API std::pair<Tensor, Tensor> approx_top_k(const Tensor& operand, int64_t k,
                                                    const ApproxTopKOptions& options = {});

// --- others -------------------------------------------------------------------------------------

/// Eight bytes for each row, by FarmHash.
TIDEMARK_API Tensor fingerprint(const Tensor& data);
/// The seconds since 1970, whenever it runs.
TIDEMARK_API Tensor timestamp();
/// False while a function is traced or a graph is built.
TIDEMARK_API bool executing_eagerly();

namespace io {
using tidemark::read_file;
}
namespace nn {
using tidemark::space_to_batch;
}
namespace dtypes {
using tidemark::saturate_cast;
}

}  // namespace tidemark
