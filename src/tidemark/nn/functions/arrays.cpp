#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/ops.h>

#include <algorithm>
#include <numeric>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark {

namespace {

Ints counted_axes(const Tensor& x, const Ints& axes) {
  Ints out;
  for (const int64_t axis : axes) out.push_back(normalize_axis(axis, x.rank()));
  return out;
}

/// The axes that are not among those.
Ints others(const Tensor& x, const Ints& axes) {
  Ints out;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) out.push_back(i);
  }
  return out;
}

/// The product of the sizes along the axes, or -1 where one is not known.
int64_t folded_size(const Tensor& x, const Ints& axes) {
  int64_t out = 1;
  for (const int64_t axis : axes) {
    const int64_t size = x.shape()[static_cast<int>(axis)];
    if (size == kUnknownDim) return -1;
    out *= size;
  }
  return out;
}

/// With the axes in this order, folded into a matrix after the first `rows` of them.
Tensor as_matrix(const Tensor& x, Ints rows, const Ints& columns) {
  const Ints sizes = {folded_size(x, rows), folded_size(x, columns)};
  if (sizes[0] < 0 && sizes[1] < 0) {
    fail("[tensordot] of ", x.shape(),
         " sizes are unknown both of what is summed over and of what "
         "stays");
  }
  rows.insert(rows.end(), columns.begin(), columns.end());
  return reshape(transpose(x, rows), nn::vector_of(sizes));
}

void append_sizes(std::vector<Tensor>& sizes, const Tensor& x, const Ints& axes) {
  for (const int64_t axis : axes) {
    sizes.push_back(reshape(nn::size_at(x, static_cast<int>(axis)), nn::vector_of({1})));
  }
}

/// 1 more than the largest, or 0.
Tensor count_up_to(const Tensor& numbers) {
  const Tensor both[] = {reshape(numbers, nn::vector_of({-1})),
                         cast(Tensor::of({-1}), numbers.dtype())};
  return max(concat(both, 0)) + nn::number(1, numbers);
}

}  // namespace

Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes) {
  TIDEMARK_HERE;
  nn::check_rank("tensordot", a, static_cast<int>(axes));
  nn::check_rank("tensordot", b, static_cast<int>(axes));
  if (axes < 0) fail("[tensordot] `axes` must not be negative. Received: ", axes);
  Ints last(static_cast<size_t>(axes)), first(static_cast<size_t>(axes));
  std::iota(last.begin(), last.end(), a.rank() - axes);
  std::iota(first.begin(), first.end(), int64_t{0});
  return tensordot(a, b, last, first);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Ints& a_axes, const Ints& b_axes) {
  TIDEMARK_HERE;
  if (a_axes.size() != b_axes.size()) {
    fail("[tensordot] as many axes of a as of b. Received: ", a_axes.size(), " and ",
         b_axes.size());
  }
  const Ints from_a = counted_axes(a, a_axes), from_b = counted_axes(b, b_axes);
  const Ints free_a = others(a, from_a), free_b = others(b, from_b);
  const Tensor product = matmul(as_matrix(a, free_a, from_a), as_matrix(b, from_b, free_b));
  std::vector<Tensor> sizes;
  append_sizes(sizes, a, free_a);
  append_sizes(sizes, b, free_b);
  if (sizes.empty()) return reshape(product, nn::vector_of({}));
  return reshape(product, concat(sizes, 0));
}

Tensor histogram_fixed_width_bins(const Tensor& values, double low, double high,
                                  const HistogramOptions& options) {
  TIDEMARK_HERE;
  if (!(low < high) || options.nbins < 1) {
    fail(
        "[histogram_fixed_width] takes a range from low to high and a positive number of bins. "
        "Received: ",
        low, ", ", high, " and ", options.nbins);
  }
  const auto bins = static_cast<double>(options.nbins);
  const Tensor wide = cast(values, DType::float64);
  const Tensor places = floor((wide - low) * (bins / (high - low)));
  return cast(clip_by_value(places, 0.0, bins - 1), options.dtype);
}

Tensor histogram_fixed_width(const Tensor& values, double low, double high,
                             const HistogramOptions& options) {
  TIDEMARK_HERE;
  const Tensor bins = histogram_fixed_width_bins(values, low, high, {.nbins = options.nbins});
  const Tensor weights = cast(Tensor::of(std::initializer_list<int32_t>{}), options.dtype);
  return bincount(reshape(bins, nn::vector_of({-1})), Tensor(static_cast<int32_t>(options.nbins)),
                  weights);
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors, const std::string& indexing) {
  TIDEMARK_HERE;
  if (indexing != "xy" && indexing != "ij") {
    fail("[meshgrid] `indexing` is \"xy\" or \"ij\". Received: ", indexing);
  }
  std::vector<size_t> order(vectors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (indexing == "xy" && order.size() > 1) std::swap(order[0], order[1]);
  std::vector<Tensor> sizes;
  for (const size_t i : order) sizes.push_back(reshape(size(vectors[i]), nn::vector_of({1})));
  std::vector<Tensor> grids;
  for (size_t i = 0; i < vectors.size(); ++i) {
    Ints shape(vectors.size(), 1);
    shape[static_cast<size_t>(std::find(order.begin(), order.end(), i) - order.begin())] = -1;
    grids.push_back(broadcast_to(reshape(vectors[i], nn::vector_of(shape)), concat(sizes, 0)));
  }
  return grids;
}

Tensor sequence_mask(const Tensor& lengths, const SequenceMaskOptions& options) {
  TIDEMARK_HERE;
  const Tensor zero = nn::number(0, lengths);
  const Tensor longest = options.maxlen >= 0
                             ? nn::number(static_cast<double>(options.maxlen), lengths)
                             : maximum(count_up_to(lengths) - nn::number(1, lengths), zero);
  const Tensor places = range(zero, longest, nn::number(1, lengths));
  const Tensor mask = less(places, expand_dims(lengths, -1));
  return options.dtype == DType::bool_ ? mask : cast(mask, options.dtype);
}

Tensor unravel_index(const Tensor& indices, const Ints& dims) {
  TIDEMARK_HERE;
  const int64_t count =
      std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<int64_t>());
  if (!indices.is_symbolic()) {
    for (const int64_t index : indices.to_ints()) {
      if (index >= 0 && index < count) continue;
      fail("[unravel_index] an index is in [0, ", count, "). Received: ", index);
    }
  }
  std::vector<Tensor> coordinates;
  Tensor rest = indices;
  for (auto size = dims.rbegin(); size != dims.rend(); ++size) {
    const Tensor by = nn::number(static_cast<double>(*size), indices);
    coordinates.insert(coordinates.begin(), floormod(rest, by));
    rest = floordiv(rest, by);
  }
  return stack(coordinates, 0);
}

std::vector<Tensor> dynamic_partition(const Tensor& data, const Tensor& partitions,
                                      int64_t num_partitions) {
  TIDEMARK_HERE;
  if (num_partitions < 1) {
    fail("[dynamic_partition] `num_partitions` is positive. Received: ", num_partitions);
  }
  if (!partitions.is_symbolic()) {
    for (const int64_t number : partitions.to_ints()) {
      if (number >= 0 && number < num_partitions) continue;
      fail("[dynamic_partition] partitions are in [0, ", num_partitions, "). Received: ", number);
    }
  }
  std::vector<Tensor> out;
  for (int64_t i = 0; i < num_partitions; ++i) {
    const Tensor is_part = equal(partitions, nn::number(static_cast<double>(i), partitions));
    out.push_back(boolean_mask(data, is_part, {.axis = 0}));
  }
  return out;
}

Tensor dynamic_stitch(const std::vector<Tensor>& indices, const std::vector<Tensor>& data) {
  TIDEMARK_HERE;
  if (indices.size() != data.size() || data.empty()) {
    fail("[dynamic_stitch] takes as many indices as data. Received: ", indices.size(), " and ",
         data.size());
  }
  std::vector<Tensor> places, rows;
  for (size_t i = 0; i < data.size(); ++i) {
    const Tensor &index = indices[i], &values = data[i];
    nn::check_rank("dynamic_stitch", values, index.rank());
    if (!std::equal(index.shape().begin(), index.shape().end(), values.shape().begin())) {
      fail("[dynamic_stitch] the shape of data begins with that of its indices. Received: ",
           values.shape(), " and ", index.shape());
    }
    places.push_back(reshape(index, nn::vector_of({-1})));
    Ints width = {index.shape().is_fully_known() ? index.num_elements() : -1};
    for (int axis = index.rank(); axis < values.rank(); ++axis) {
      width.push_back(nn::known_size("dynamic_stitch", values, axis));
    }
    rows.push_back(reshape(values, nn::vector_of(width)));
  }
  const Tensor at = concat(places, 0), values = concat(rows, 0);
  const Tensor sizes[] = {reshape(count_up_to(at), nn::vector_of({1})),
                          cast(nn::part(shape(values), 0, 1), at.dtype())};
  const Tensor empty = fill(concat(sizes, 0), nn::number(0, values));
  return tensor_scatter_nd_update(empty, expand_dims(at, 1), values);
}

Tensor parallel_stack(const std::vector<Tensor>& values) {
  TIDEMARK_HERE;
  return stack(values, 0);
}

std::vector<Tensor> identity_n(const std::vector<Tensor>& input) {
  TIDEMARK_HERE;
  std::vector<Tensor> out;
  for (const Tensor& one : input) out.push_back(identity(one));
  return out;
}

std::vector<Tensor> shape_n(const std::vector<Tensor>& input, DType out_type) {
  TIDEMARK_HERE;
  std::vector<Tensor> out;
  for (const Tensor& one : input) out.push_back(shape(one, out_type));
  return out;
}

Shape broadcast_static_shape(const Shape& shape_x, const Shape& shape_y) {
  return broadcast_shapes(shape_x, shape_y);
}

}  // namespace tidemark
