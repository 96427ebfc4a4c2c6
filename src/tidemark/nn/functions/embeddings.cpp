// Rows of tables that sparse ids name, put together.
#include <tidemark/call.h>
#include <tidemark/nn_functions.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

namespace {

void check_combiner(const std::string& combiner) {
  if (combiner == "mean" || combiner == "sqrtn" || combiner == "sum") return;
  fail("`combiner` must be one of 'mean', 'sqrtn', 'sum', got '", combiner, "'");
}

/// A number for each row, spread over the row.
Tensor spread(const Tensor& numbers, const Tensor& rows) {
  Ints sizes(static_cast<size_t>(rows.rank()), 1);
  sizes[0] = -1;
  return reshape(numbers, vector_of(sizes));
}

/// Sums over the rows of each segment, divided as the combiner says; zeros where there are none.
Tensor combined(const Tensor& rows, const Tensor& weights, const Tensor& segments,
                const Tensor& count, const std::string& combiner) {
  const auto total = [&](const Tensor& x) { return unsorted_segment_sum(x, segments, count); };
  const Tensor parts = weights ? cast(weights, rows.dtype()) : ones_like(segments, rows.dtype());
  const Tensor sums = total(weights ? rows * spread(parts, rows) : rows);
  if (combiner == "sum") return sums;
  const Tensor divisor = combiner == "mean" ? total(parts) : sqrt(total(square(parts)));
  return divide_no_nan(sums, spread(divisor, rows));
}

/// Of each element the number of its row, and how many rows there are.
struct FlatRows {
  Tensor rows, count, leading;
};
FlatRows flat_rows(const SparseTensor& x) {
  const int64_t rank = known_size("safe_embedding_lookup_sparse", x.indices, 1);
  const Tensor leading = part(x.dense_shape, 0, 0, rank - 1);
  const Tensor strides = cumprod(leading, 0, true, true);
  return {sum(part(x.indices, 1, 0, rank - 1) * strides, Ints{1}), prod(leading), leading};
}

}  // namespace

Tensor embedding_lookup_sparse(const Tensor& params, const SparseTensor& sp_ids,
                               const std::optional<SparseTensor>& sp_weights,
                               const SparseLookupOptions& options) {
  TIDEMARK_HERE;
  check_combiner(options.combiner);
  const Tensor rows = embedding_lookup(params, sp_ids.values, options.max_norm);
  const Tensor segments = at(sp_ids.indices, 1, 0);
  const Tensor all[] = {segments, Tensor::of({int64_t{-1}})};
  const Tensor count = max(concat(all, 0)) + Tensor(int64_t{1});
  return combined(rows, sp_weights ? sp_weights->values : Tensor(), segments, count,
                  options.combiner);
}

Tensor safe_embedding_lookup_sparse(const Tensor& embedding_weights, const SparseTensor& sparse_ids,
                                    const std::optional<SparseTensor>& sparse_weights,
                                    const SafeLookupOptions& options) {
  TIDEMARK_HERE;
  check_combiner(options.combiner);
  const FlatRows all = flat_rows(sparse_ids);
  Tensor valid = greater_equal(sparse_ids.values, number(0, sparse_ids.values)), weights;
  if (sparse_weights) {
    weights = sparse_weights->values;
    if (options.combiner != "sum") valid = logical_and(valid, greater(weights, number(0, weights)));
    weights = boolean_mask(weights, valid);
  }
  const Tensor ids = boolean_mask(sparse_ids.values, valid), rows = boolean_mask(all.rows, valid);
  const Tensor found = embedding_lookup(embedding_weights, ids, options.max_norm);
  Tensor result = combined(found, weights, rows, all.count, options.combiner);
  if (options.default_id) {
    const Tensor filled = unsorted_segment_sum(ones_like(rows), rows, all.count);
    const Tensor is_empty = spread(equal(filled, Tensor(int64_t{0})), result);
    const Tensor id = Tensor::of({*options.default_id});
    result = select(is_empty, embedding_lookup(embedding_weights, id, options.max_norm), result);
  }
  const Tensor sizes[] = {all.leading, part(shape(result, DType::int64), 0, 1)};
  return reshape(result, concat(sizes, 0));
}

}  // namespace tidemark::nn
