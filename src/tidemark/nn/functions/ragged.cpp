#include <tidemark/call.h>
#include <tidemark/ragged.h>

#include <numeric>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/rows.h"
#include "tidemark/nn/scalars.h"

namespace tidemark {

namespace ragged {

namespace {

Tensor int64_vector(const std::vector<int64_t>& values) {
  return Tensor::of(std::span<const int64_t>(values), {static_cast<int64_t>(values.size())});
}

}  // namespace

Tensor detail::splits_of_lengths(const std::vector<int64_t>& lengths, const void* caller) {
  const memory::ScopedSite here(memory::site_of_address(caller));
  std::vector<int64_t> splits(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), splits.begin() + 1);
  return int64_vector(splits);
}

RaggedTensor constant(std::initializer_list<std::initializer_list<const char*>> rows) {
  const void* caller = __builtin_return_address(0);
  TIDEMARK_HERE;
  std::vector<std::string_view> values;
  std::vector<int64_t> lengths;
  for (const auto& row : rows) {
    values.insert(values.end(), row.begin(), row.end());
    lengths.push_back(static_cast<int64_t>(row.size()));
  }
  return {Tensor::of_strings(values, {static_cast<int64_t>(values.size())}),
          detail::splits_of_lengths(lengths, caller)};
}

RaggedTensor range(const Tensor& starts, const Tensor& limits, const Tensor& deltas) {
  TIDEMARK_HERE;
  const Tensor zero = zeros_like(starts + limits + deltas);
  const Tensor flat = nn::vector_of({-1});
  const Tensor start = reshape(starts + zero, flat), delta = reshape(deltas + zero, flat);
  const Tensor steps =
      cast(reshape(limits + zero, flat) - start, DType::float64) / cast(delta, DType::float64);
  const Tensor lengths = cast(ceil(maximum(steps, Tensor(0.0))), DType::int64);
  const Tensor splits = nn::splits_of(lengths);
  const nn::Places at = nn::places_of(splits);
  const Tensor place = cast(at.place, start.dtype());
  return {gather(start, at.row, {.axis = 0}) + place * gather(delta, at.row, {.axis = 0}), splits};
}

RaggedTensor stack(const std::vector<Tensor>& values) {
  TIDEMARK_HERE;
  if (values.empty()) fail("[ragged.stack] needs at least one value");
  std::vector<Tensor> lengths;
  for (const Tensor& row : values) {
    if (row.shape().has_rank() && row.rank() != 1) {
      fail("[ragged.stack] rows are vectors. Received shape: ", row.shape());
    }
    lengths.push_back(nn::count_of(row));
  }
  return {concat(values, 0), nn::splits_of(tidemark::stack(lengths))};
}

RaggedTensor stack_dynamic_partitions(const Tensor& data, const Tensor& partitions,
                                      int64_t num_partitions) {
  TIDEMARK_HERE;
  const Tensor order = argsort(partitions, {.stable = true});
  const Tensor sorted = gather(partitions, order, {.axis = 0});
  return {gather(data, order, {.axis = 0}), segment_ids_to_row_splits(sorted, num_partitions)};
}

RaggedTensor boolean_mask(const RaggedTensor& data, const RaggedTensor& mask) {
  TIDEMARK_HERE;
  const Tensor row = nn::places_of(mask.row_splits).row;
  const Tensor counts = unsorted_segment_sum(cast(mask.values, DType::int64), row,
                                             nn::count_of(mask.row_splits) - Tensor(int64_t{1}));
  return {tidemark::boolean_mask(data.values, mask.values), nn::splits_of(counts)};
}

RaggedTensor boolean_mask(const Tensor& data, const Tensor& mask) {
  TIDEMARK_HERE;
  nn::check_rank("ragged.boolean_mask", mask, 2);
  const Tensor counts = sum(cast(mask, DType::int64), Ints{1});
  return {tidemark::boolean_mask(data, mask), nn::splits_of(counts)};
}

Tensor row_splits_to_segment_ids(const Tensor& splits) {
  TIDEMARK_HERE;
  return cast(nn::places_of(splits).row, splits.dtype());
}

Tensor segment_ids_to_row_splits(const Tensor& segment_ids, int64_t num_segments) {
  TIDEMARK_HERE;
  const Tensor ids = cast(segment_ids, DType::int64), one(int64_t{1});
  const Tensor none = Tensor::of({int64_t{-1}}), all[] = {ids, none};
  const Tensor count = num_segments < 0 ? max(concat(all, 0)) + one : Tensor(num_segments);
  return nn::splits_of(unsorted_segment_sum(ones_like(ids), ids, count));
}

}  // namespace ragged

FilledRows ragged_fill_empty_rows(const Tensor& value_rowids, const Tensor& values,
                                  const Tensor& nrows, const Tensor& default_value) {
  TIDEMARK_HERE;
  const Tensor rows = cast(value_rowids, DType::int64);
  const Tensor held = unsorted_segment_sum(ones_like(rows), rows, cast(nrows, DType::int64));
  const Tensor is_empty = equal(held, Tensor(int64_t{0}));
  const Tensor added = reshape(where(is_empty), nn::vector_of({-1}));
  const Tensor filled = fill(shape(added), cast(default_value, values.dtype()));
  const Tensor both_rows[] = {rows, added}, both[] = {values, filled};
  const Tensor all_rows = concat(both_rows, 0);
  const Tensor order = argsort(all_rows, {.stable = true});
  const Tensor went = slice(invert_permutation(order), nn::vector_of({0}), shape(rows));
  return {gather(all_rows, order, {.axis = 0}), gather(concat(both, 0), order, {.axis = 0}),
          is_empty, cast(went, DType::int64)};
}

std::pair<Tensor, Tensor> ragged_fill_empty_rows_grad(const Tensor& reverse_index_map,
                                                      const Tensor& grad_values) {
  TIDEMARK_HERE;
  const Tensor named =
      unsorted_segment_sum(ones_like(reverse_index_map), reverse_index_map, size(grad_values));
  const Tensor was_there = greater(named, nn::number(0, named));
  return {gather(grad_values, reverse_index_map, {.axis = 0}),
          sum(select(was_there, zeros_like(grad_values), grad_values))};
}

}  // namespace tidemark
