// tf.sparse: tensors of which the elements that are not zero are named.
//
//   td::SparseTensor s = td::sparse::from_dense(td::constant({{0.f, 2.f}, {3.f, 0.f}}));
//   td::Tensor y = td::sparse::sparse_dense_matmul(s, td::ones({2, 4}));
//   td::Tensor back = td::sparse::to_dense(td::sparse::transpose(s));
//
// An element is a row of `indices` and one of `values`. Functions keep row-major order.
#pragma once

#include <tidemark/ops.h>

#include <optional>
#include <utility>
#include <vector>

namespace tidemark {

struct SparseTensor {
  Tensor indices, values, dense_shape;  // int64 [elements, rank], [elements], int64 [rank]
};

/// Some rows of a tensor: row i of values stands at indices[i].
struct IndexedSlices {
  Tensor values, indices, dense_shape;
};

namespace sparse {

/// The elements of a dense tensor that are not zero; and back.
TIDEMARK_API SparseTensor from_dense(const Tensor& tensor);
TIDEMARK_API Tensor to_dense(const SparseTensor& sp_input, const Tensor& default_value = {});
/// Ones on the diagonal.
TIDEMARK_API SparseTensor eye(int64_t num_rows, int64_t num_columns = -1,
                              DType dtype = DType::float32);

// --- other shapes -------------------------------------------------------------------------------

/// The same elements in row-major order.
TIDEMARK_API SparseTensor reorder(const SparseTensor& sp_input);
/// Under another shape of as many elements.
TIDEMARK_API SparseTensor reshape(const SparseTensor& sp_input, const Ints& shape);
/// All dimensions reversed unless an order is given.
TIDEMARK_API SparseTensor transpose(const SparseTensor& sp_input, const Ints& perm = {});
TIDEMARK_API SparseTensor expand_dims(const SparseTensor& sp_input, int64_t axis = -1);
/// The elements for which the mask is true.
TIDEMARK_API SparseTensor retain(const SparseTensor& sp_input, const Tensor& to_retain);
/// The elements of a box; places count from its start.
TIDEMARK_API SparseTensor slice(const SparseTensor& sp_input, const Ints& start, const Ints& size);
/// Joined along an axis; of the other sizes the largest are taken.
TIDEMARK_API SparseTensor concat(int64_t axis, const std::vector<SparseTensor>& sp_inputs);
/// With larger sizes; the tightest ones unless they are given.
TIDEMARK_API SparseTensor reset_shape(const SparseTensor& sp_input, const Ints& new_shape = {});

/// Cut into pieces along an axis; the first ones are larger where they cannot be equal.
TIDEMARK_API std::vector<SparseTensor> split(const SparseTensor& sp_input, int64_t num_split,
                                             int64_t axis);
/// Rows of a matrix without an element get one at their start; and which rows those were.
TIDEMARK_API std::pair<SparseTensor, Tensor> fill_empty_rows(const SparseTensor& sp_input,
                                                             const Tensor& default_value);

/// Without the rows at those indices.
TIDEMARK_API IndexedSlices mask(const IndexedSlices& a, const Tensor& mask_indices);

// --- elements -----------------------------------------------------------------------------------

/// The function of the values alone.
template <class Function>
SparseTensor map_values(const Function& function, const SparseTensor& x) {
  return {x.indices, function(x.values), x.dense_shape};
}
/// Elements that both have are added, or the larger and the smaller one taken, where what one of
/// them lacks is zero.
TIDEMARK_API SparseTensor add(const SparseTensor& a, const SparseTensor& b);
TIDEMARK_API SparseTensor maximum(const SparseTensor& sp_a, const SparseTensor& sp_b);
TIDEMARK_API SparseTensor minimum(const SparseTensor& sp_a, const SparseTensor& sp_b);
/// Sums, or the largest of the elements that are there, along axes (none: all), dense.
TIDEMARK_API Tensor reduce_sum(const SparseTensor& sp_input, const Ints& axis = {});
TIDEMARK_API Tensor reduce_max(const SparseTensor& sp_input, const Ints& axis = {});
struct BincountOptions {
  Tensor weights = {};                    // of the elements, whose sums are counted
  int64_t axis = 0;                       // -1: each row by itself
  int64_t minlength = 0, maxlength = -1;  // -1: as many bins as the largest number needs
  bool binary_output = false;             // 1 for what comes up
};
/// How often each number comes up, by the elements of a dense tensor or those that are there.
TIDEMARK_API SparseTensor bincount(const Tensor& values, const BincountOptions& options = {});
TIDEMARK_API SparseTensor bincount(const SparseTensor& values, const BincountOptions& options = {});
/// Softmax over the elements that are there along the last dimension.
TIDEMARK_API SparseTensor softmax(const SparseTensor& sp_input);
/// Whether each number below `vocab_size` is among the values along the last dimension.
TIDEMARK_API Tensor to_indicator(const SparseTensor& sp_input, int64_t vocab_size);

// --- products and rows of tables ----------------------------------------------------------------

struct SparseDenseMatmulOptions {
  bool adjoint_a = false, adjoint_b = false;
};
TIDEMARK_API Tensor sparse_dense_matmul(const SparseTensor& sp_a, const Tensor& b,
                                        const SparseDenseMatmulOptions& options = {});
/// alpha · mat1 · mat2 + beta · values at the places of the elements alone.
struct SampledAddmmOptions {
  double beta = 1, alpha = 1;
  DType output_type = DType::float32;
};
TIDEMARK_API SparseTensor sampled_addmm(const SparseTensor& sp_input, const Tensor& mat1,
                                        const Tensor& mat2,
                                        const SampledAddmmOptions& options = {});
/// The rows of `data` that `indices` names, reduced by segment (ids in order).
TIDEMARK_API Tensor segment_sum(const Tensor& data, const Tensor& indices,
                                const Tensor& segment_ids);
TIDEMARK_API Tensor segment_mean(const Tensor& data, const Tensor& indices,
                                 const Tensor& segment_ids);
TIDEMARK_API Tensor segment_sqrt_n(const Tensor& data, const Tensor& indices,
                                   const Tensor& segment_ids);

}  // namespace sparse

/// How many insertions, deletions and replacements turn each row of the first into that of the
/// second; divided by the length of the second with `normalize`.
TIDEMARK_API Tensor edit_distance(const SparseTensor& hypothesis, const SparseTensor& truth,
                                  bool normalize = true);

/// Sets along the last dimension of tensors of integers or strings.
namespace sets {

TIDEMARK_API SparseTensor intersection(const Tensor& a, const Tensor& b);
TIDEMARK_API SparseTensor union_(const Tensor& a, const Tensor& b);
/// What is in `a` and not in `b`, or the other way round.
TIDEMARK_API SparseTensor difference(const Tensor& a, const Tensor& b, bool aminusb = true);
/// How many different elements each set has.
TIDEMARK_API Tensor size(const SparseTensor& a);

}  // namespace sets
}  // namespace tidemark
