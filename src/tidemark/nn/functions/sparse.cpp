#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/sparse.h>

#include <algorithm>
#include <numeric>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::sparse {

namespace {

using nn::number;
using nn::part;

Tensor int64s(const Ints& values) {
  return Tensor::of(std::span<const int64_t>(values), {static_cast<int64_t>(values.size())});
}
Tensor one() { return Tensor(int64_t{1}); }

int rank_of(std::string_view name, const SparseTensor& x) {
  return static_cast<int>(nn::known_size(name, x.indices, 1));
}

/// How far apart, in elements, neighbours along each dimension lie.
Tensor strides(const Tensor& dense_shape) { return cumprod(dense_shape, 0, true, true); }

/// The position of each element in the row-major order of a dense tensor.
Tensor flat_places(const Tensor& indices, const Tensor& dense_shape) {
  return sum(indices * strides(dense_shape), Ints{-1});
}

/// The coordinates of such positions.
Tensor places_at(const Tensor& flat, const Tensor& dense_shape) {
  const Tensor column = tidemark::expand_dims(flat, -1),
               wide = tidemark::maximum(dense_shape, one());
  return floormod(floordiv(column, strides(dense_shape)), wide);
}

SparseTensor in_order(const Tensor& indices, const Tensor& values, const Tensor& dense_shape) {
  const Tensor order = argsort(flat_places(indices, dense_shape), {.stable = true});
  return {gather(indices, order, {.axis = 0}), gather(values, order, {.axis = 0}), dense_shape};
}

Tensor columns(const SparseTensor& x, const Ints& which) {
  return gather(x.indices, int64s(which), {.axis = 1});
}

/// What is at each place that is named, once, where elements named several times are put together.
struct Groups {
  Tensor places, group, count;
};
Groups grouped(const Tensor& flat) {
  const std::vector<Tensor> found = unique(flat);
  return {found[0], found[1], size(found[0])};
}

using SegmentReduction = Tensor (*)(const Tensor&, const Tensor&, const Tensor&);

Tensor reduced(std::string_view name, const SparseTensor& x, const Ints& axes,
               SegmentReduction reduce) {
  const int rank = rank_of(name, x);
  Ints gone, kept;
  for (const int64_t axis : axes) gone.push_back(normalize_axis(axis, rank));
  for (int64_t i = 0; i < rank; ++i) {
    const bool goes = axes.empty() || std::find(gone.begin(), gone.end(), i) != gone.end();
    if (!goes) kept.push_back(i);
  }
  const Tensor sizes = gather(x.dense_shape, int64s(kept), {.axis = 0});
  const Groups all = grouped(flat_places(columns(x, kept), sizes));
  const Tensor totals = reduce(x.values, all.group, all.count);
  const Tensor zeros = fill(sizes, number(0, x.values));
  return tensor_scatter_nd_update(zeros, places_at(all.places, sizes), totals);
}

/// The elements of both put together; of those that only one has, with a zero where that is asked.
SparseTensor combined(const SparseTensor& a, const SparseTensor& b, SegmentReduction reduce,
                      bool with_zeros) {
  const Tensor sizes = tidemark::maximum(a.dense_shape, b.dense_shape);
  const Tensor places[] = {a.indices, b.indices}, parts[] = {a.values, b.values};
  const Tensor values = tidemark::concat(parts, 0);
  const Groups all = grouped(flat_places(tidemark::concat(places, 0), sizes));
  Tensor made = reduce(values, all.group, all.count);
  if (with_zeros) {
    const Tensor named = unsorted_segment_sum(ones_like(all.group), all.group, all.count);
    const Tensor twice[] = {values, zeros_like(values)}, groups[] = {all.group, all.group};
    const Tensor with_zero =
        reduce(tidemark::concat(twice, 0), tidemark::concat(groups, 0), all.count);
    made = select(greater(named, Tensor(int32_t{1})), made, with_zero);
  }
  return in_order(places_at(all.places, sizes), made, sizes);
}

Tensor sum_by_segment(const Tensor& x, const Tensor& ids, const Tensor& count) {
  return unsorted_segment_sum(x, ids, count);
}
Tensor max_by_segment(const Tensor& x, const Tensor& ids, const Tensor& count) {
  return unsorted_segment_max(x, ids, count);
}
Tensor min_by_segment(const Tensor& x, const Tensor& ids, const Tensor& count) {
  return unsorted_segment_min(x, ids, count);
}

Tensor adjoint(const Tensor& matrix) {
  return tidemark::transpose(matrix, Ints{1, 0}, is_complex(matrix.dtype()));
}

/// How many rows each segment has, at least one, in the shape that divides the sums.
Tensor rows_in(const Tensor& sums, const Tensor& ids) {
  const Tensor counts = tidemark::segment_sum(ones_like(ids, sums.dtype()), ids);
  Ints sizes(static_cast<size_t>(sums.rank()), 1);
  sizes[0] = -1;
  return tidemark::reshape(tidemark::maximum(counts, number(1, sums)), nn::vector_of(sizes));
}

}  // namespace

SparseTensor from_dense(const Tensor& tensor) {
  TIDEMARK_HERE;
  const Tensor indices = where(tensor);
  return {indices, gather_nd(tensor, indices), shape(tensor, DType::int64)};
}

Tensor to_dense(const SparseTensor& sp_input, const Tensor& default_value) {
  TIDEMARK_HERE;
  const Tensor zero =
      sp_input.values.dtype() == DType::bool_ ? Tensor(false) : number(0, sp_input.values);
  const Tensor other = default_value ? cast(default_value, zero.dtype()) : zero;
  const Tensor base = fill(sp_input.dense_shape, other);
  return tensor_scatter_nd_update(base, sp_input.indices, sp_input.values);
}

SparseTensor eye(int64_t num_rows, int64_t num_columns, DType dtype) {
  TIDEMARK_HERE;
  const int64_t columns = num_columns < 0 ? num_rows : num_columns;
  const Tensor diagonal = nn::steps(std::min(num_rows, columns), DType::int64);
  const Tensor both[] = {diagonal, diagonal};
  return {stack(both, 1), ones_like(diagonal, dtype), int64s({num_rows, columns})};
}

SparseTensor reorder(const SparseTensor& sp_input) {
  TIDEMARK_HERE;
  return in_order(sp_input.indices, sp_input.values, sp_input.dense_shape);
}

SparseTensor reshape(const SparseTensor& sp_input, const Ints& shape) {
  TIDEMARK_HERE;
  Ints sizes = shape;
  const Ints given = sp_input.dense_shape.to_ints();
  const auto product = [](const Ints& all) {
    return std::accumulate(all.begin(), all.end(), int64_t{1}, std::multiplies<int64_t>());
  };
  const int64_t total = product(given);
  const auto open = std::find(sizes.begin(), sizes.end(), int64_t{-1});
  if (open != sizes.end()) {
    const int64_t known = -product(sizes);
    *open = known > 0 ? total / known : -1;
  }
  if (product(sizes) != total || *std::min_element(sizes.begin(), sizes.end()) < 0) {
    fail("[sparse.reshape] the tensor has ", total, " elements. Received: ", Shape(shape));
  }
  const Tensor to = int64s(sizes);
  return {places_at(flat_places(sp_input.indices, sp_input.dense_shape), to), sp_input.values, to};
}

SparseTensor transpose(const SparseTensor& sp_input, const Ints& perm) {
  TIDEMARK_HERE;
  const int rank = rank_of("sparse.transpose", sp_input);
  Ints order = perm;
  for (int64_t i = rank - 1; perm.empty() && i >= 0; --i) order.push_back(i);
  const Tensor sizes = gather(sp_input.dense_shape, int64s(order), {.axis = 0});
  return in_order(columns(sp_input, order), sp_input.values, sizes);
}

SparseTensor expand_dims(const SparseTensor& sp_input, int64_t axis) {
  TIDEMARK_HERE;
  const int rank = rank_of("sparse.expand_dims", sp_input);
  const int place = normalize_axis(axis, rank + 1);
  const Tensor first = part(sp_input.indices, 1, 0, place), rest = part(sp_input.indices, 1, place);
  const Tensor places[] = {first, zeros_like(part(sp_input.indices, 1, 0, 1)), rest};
  const Tensor sizes[] = {part(sp_input.dense_shape, 0, 0, place), int64s({1}),
                          part(sp_input.dense_shape, 0, place)};
  return {tidemark::concat(places, 1), sp_input.values, tidemark::concat(sizes, 0)};
}

SparseTensor retain(const SparseTensor& sp_input, const Tensor& to_retain) {
  TIDEMARK_HERE;
  return {boolean_mask(sp_input.indices, to_retain), boolean_mask(sp_input.values, to_retain),
          sp_input.dense_shape};
}

SparseTensor slice(const SparseTensor& sp_input, const Ints& start, const Ints& size) {
  TIDEMARK_HERE;
  const Tensor begin = int64s(start), length = int64s(size);
  const Tensor is_inside =
      logical_and(greater_equal(sp_input.indices, begin), less(sp_input.indices, begin + length));
  const SparseTensor kept = retain(sp_input, all(is_inside, Ints{-1}));
  const Tensor room = tidemark::maximum(sp_input.dense_shape - begin, Tensor(int64_t{0}));
  return {kept.indices - begin, kept.values, tidemark::minimum(length, room)};
}

SparseTensor concat(int64_t axis, const std::vector<SparseTensor>& sp_inputs) {
  TIDEMARK_HERE;
  if (sp_inputs.empty()) fail("[sparse.concat] there are no tensors");
  const int rank = rank_of("sparse.concat", sp_inputs[0]);
  const auto place = static_cast<size_t>(normalize_axis(axis, rank));
  Ints begin(static_cast<size_t>(rank), 0), sizes(begin);
  std::vector<Tensor> indices, values;
  for (const SparseTensor& one : sp_inputs) {
    const Ints own = one.dense_shape.to_ints();
    if (own.size() != sizes.size()) fail("[sparse.concat] tensors differ in rank");
    indices.push_back(one.indices + int64s(begin));
    values.push_back(one.values);
    begin[place] += own[place];
    for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::max(sizes[i], own[i]);
  }
  sizes[place] = begin[place];
  return in_order(tidemark::concat(indices, 0), tidemark::concat(values, 0), int64s(sizes));
}

SparseTensor reset_shape(const SparseTensor& sp_input, const Ints& new_shape) {
  TIDEMARK_HERE;
  if (new_shape.empty()) {
    const Tensor none = tidemark::expand_dims(-ones_like(sp_input.dense_shape), 0);
    const Tensor places[] = {sp_input.indices, none};
    return {sp_input.indices, sp_input.values, max(tidemark::concat(places, 0), Ints{0}) + one()};
  }
  const Ints own = sp_input.dense_shape.to_ints();
  const bool fits = own.size() == new_shape.size() &&
                    std::equal(own.begin(), own.end(), new_shape.begin(), std::less_equal<>());
  if (!fits) {
    fail("[sparse.reset_shape] sizes are not below those of the tensor, ", Shape(own),
         ". Received: ", Shape(new_shape));
  }
  return {sp_input.indices, sp_input.values, int64s(new_shape)};
}

SparseTensor add(const SparseTensor& a, const SparseTensor& b) {
  TIDEMARK_HERE;
  return combined(a, b, sum_by_segment, false);
}

SparseTensor maximum(const SparseTensor& sp_a, const SparseTensor& sp_b) {
  TIDEMARK_HERE;
  return combined(sp_a, sp_b, max_by_segment, true);
}

SparseTensor minimum(const SparseTensor& sp_a, const SparseTensor& sp_b) {
  TIDEMARK_HERE;
  return combined(sp_a, sp_b, min_by_segment, true);
}

Tensor reduce_sum(const SparseTensor& sp_input, const Ints& axis) {
  TIDEMARK_HERE;
  return reduced("sparse.reduce_sum", sp_input, axis, sum_by_segment);
}

Tensor reduce_max(const SparseTensor& sp_input, const Ints& axis) {
  TIDEMARK_HERE;
  return reduced("sparse.reduce_max", sp_input, axis, max_by_segment);
}

SparseTensor softmax(const SparseTensor& sp_input) {
  TIDEMARK_HERE;
  const int outer = rank_of("sparse.softmax", sp_input) - 1;
  const Groups rows = grouped(
      flat_places(part(sp_input.indices, 1, 0, outer), part(sp_input.dense_shape, 0, 0, outer)));
  const auto of_row = [&](const Tensor& t) { return gather(t, rows.group, {.axis = 0}); };
  const Tensor top = max_by_segment(sp_input.values, rows.group, rows.count);
  const Tensor powers = exp(sp_input.values - of_row(top));
  const Tensor total = sum_by_segment(powers, rows.group, rows.count);
  return {sp_input.indices, powers / of_row(total), sp_input.dense_shape};
}

Tensor to_indicator(const SparseTensor& sp_input, int64_t vocab_size) {
  TIDEMARK_HERE;
  const int outer = rank_of("sparse.to_indicator", sp_input) - 1;
  const Tensor places[] = {part(sp_input.indices, 1, 0, outer),
                           tidemark::expand_dims(cast(sp_input.values, DType::int64), 1)};
  const Tensor sizes[] = {part(sp_input.dense_shape, 0, 0, outer), int64s({vocab_size})};
  const Tensor nowhere = fill(tidemark::concat(sizes, 0), Tensor(false));
  return tensor_scatter_nd_update(nowhere, tidemark::concat(places, 1),
                                  ones_like(sp_input.values, DType::bool_));
}

Tensor sparse_dense_matmul(const SparseTensor& sp_a, const Tensor& b,
                           const SparseDenseMatmulOptions& options) {
  TIDEMARK_HERE;
  const Tensor dense = options.adjoint_b ? adjoint(b) : b;
  Tensor row = nn::at(sp_a.indices, 1, 0), column = nn::at(sp_a.indices, 1, 1);
  Tensor values = sp_a.values, count = nn::at(sp_a.dense_shape, 0, 0);
  if (options.adjoint_a) {
    std::swap(row, column);
    if (is_complex(values.dtype())) values = conj(values);
    count = nn::at(sp_a.dense_shape, 0, 1);
  }
  const Tensor picked = gather(dense, column, {.axis = 0}) * tidemark::expand_dims(values, 1);
  return unsorted_segment_sum(picked, row, count);
}

Tensor segment_sum(const Tensor& data, const Tensor& indices, const Tensor& segment_ids) {
  TIDEMARK_HERE;
  return tidemark::segment_sum(gather(data, indices, {.axis = 0}), segment_ids);
}

Tensor segment_mean(const Tensor& data, const Tensor& indices, const Tensor& segment_ids) {
  TIDEMARK_HERE;
  const Tensor sums = segment_sum(data, indices, segment_ids);
  return sums / rows_in(sums, segment_ids);
}

Tensor segment_sqrt_n(const Tensor& data, const Tensor& indices, const Tensor& segment_ids) {
  TIDEMARK_HERE;
  const Tensor sums = segment_sum(data, indices, segment_ids);
  return sums / sqrt(rows_in(sums, segment_ids));
}

}  // namespace tidemark::sparse

namespace tidemark::sets {

namespace {

SparseTensor operation(const Tensor& a, const Tensor& b, const std::string& name) {
  std::vector<Tensor> parts = set_operation(a, b, name);
  return {std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

}  // namespace

SparseTensor intersection(const Tensor& a, const Tensor& b) {
  TIDEMARK_HERE;
  return operation(a, b, "intersection");
}

SparseTensor union_(const Tensor& a, const Tensor& b) {
  TIDEMARK_HERE;
  return operation(a, b, "union");
}

SparseTensor difference(const Tensor& a, const Tensor& b, bool aminusb) {
  TIDEMARK_HERE;
  return operation(a, b, aminusb ? "a-b" : "b-a");
}

}  // namespace tidemark::sets
