// tf.ragged: rows of different lengths.
//
//   td::RaggedTensor rows = td::ragged::constant({{1.f, 2.f}, {}, {3.f}});
//   td::RaggedTensor twice = td::ragged::map_flat_values(
//       [](const td::Tensor& x) { return x * 2.f; }, rows);
//   td::Tensor row_of_each = td::ragged::row_splits_to_segment_ids(rows.row_splits);   // [0, 0, 2]
#pragma once

#include <tidemark/composed.h>
#include <tidemark/sparse.h>

#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tidemark {

/// Row i is values[row_splits[i]], …, values[row_splits[i + 1] - 1].
struct RaggedTensor {
  Tensor values, row_splits;
};

namespace ragged {

namespace detail {
TIDEMARK_API Tensor splits_of_lengths(const std::vector<int64_t>& lengths, const void* caller);
}

/// Rows as they are written.
template <class T>
[[gnu::noinline]] RaggedTensor constant(std::initializer_list<std::initializer_list<T>> rows) {
  const void* caller = __builtin_return_address(0);
  std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>> values;  // which has data()
  std::vector<int64_t> lengths;
  for (const std::initializer_list<T>& row : rows) {
    values.insert(values.end(), row.begin(), row.end());
    lengths.push_back(static_cast<int64_t>(row.size()));
  }
  const auto count = static_cast<int64_t>(values.size());
  return {tidemark::detail::constant_of(dtype_of<T>(), values.data(), count, {count}, caller),
          detail::splits_of_lengths(lengths, caller)};
}
TIDEMARK_API RaggedTensor constant(std::initializer_list<std::initializer_list<const char*>> rows);

/// A range for each row: from starts[i] up to but without limits[i] by deltas[i]; each a vector, or
/// a number for all.
TIDEMARK_API RaggedTensor range(const Tensor& starts, const Tensor& limits,
                                const Tensor& deltas = Tensor(int32_t{1}));
/// Vectors as the rows of one.
TIDEMARK_API RaggedTensor stack(const std::vector<Tensor>& values);
/// A row for each partition, with the elements of `data` that belong to it, in their order.
TIDEMARK_API RaggedTensor stack_dynamic_partitions(const Tensor& data, const Tensor& partitions,
                                                   int64_t num_partitions);
/// The elements for which the mask is true, rows kept. Both are ragged, or both matrices.
TIDEMARK_API RaggedTensor boolean_mask(const RaggedTensor& data, const RaggedTensor& mask);
TIDEMARK_API RaggedTensor boolean_mask(const Tensor& data, const Tensor& mask);

/// The row of each value; and where rows begin of values with those row numbers, which never fall
/// (-1: as many rows as the last names).
TIDEMARK_API Tensor row_splits_to_segment_ids(const Tensor& splits);
TIDEMARK_API Tensor segment_ids_to_row_splits(const Tensor& segment_ids, int64_t num_segments = -1);

/// The function of the values alone; of several, which have the same rows, of the values of all.
template <class Function, class... More>
RaggedTensor map_flat_values(const Function& function, const RaggedTensor& x, const More&... more) {
  return {function(x.values, more.values...), x.row_splits};
}

/// All combinations of one element of each column, row by row: joined as "a_X_b", or hashed.
using Column = std::variant<Tensor, SparseTensor, RaggedTensor>;  // a matrix, whose rows it has
TIDEMARK_API RaggedTensor cross(const std::vector<Column>& inputs);
struct CrossHashedOptions {
  int64_t num_buckets = 0;  // 0: as many as int64 has numbers
  uint64_t hash_key = 0xDECAFCAFFE;
};
TIDEMARK_API RaggedTensor cross_hashed(const std::vector<Column>& inputs,
                                       const CrossHashedOptions& options = {});

}  // namespace ragged

namespace sparse {

/// The same as sparse matrices.
TIDEMARK_API SparseTensor cross(const std::vector<ragged::Column>& inputs,
                                const std::string& separator = "_X_");
TIDEMARK_API SparseTensor cross_hashed(const std::vector<ragged::Column>& inputs,
                                       const ragged::CrossHashedOptions& options = {});

}  // namespace sparse

/// Rows without a value get `default_value`.
struct FilledRows {
  Tensor value_rowids, values;
  Tensor empty_row_indicator;  // bool: which rows those were
  Tensor reverse_index_map;    // where each value went
};
TIDEMARK_API FilledRows ragged_fill_empty_rows(const Tensor& value_rowids, const Tensor& values,
                                               const Tensor& nrows, const Tensor& default_value);
/// The gradients of the values that were there, and of the one that filled empty rows.
TIDEMARK_API std::pair<Tensor, Tensor> ragged_fill_empty_rows_grad(const Tensor& reverse_index_map,
                                                                   const Tensor& grad_values);

}  // namespace tidemark
