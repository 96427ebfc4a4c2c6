#include "tidemark/io/onnx/build.h"

#include <algorithm>
#include <limits>

#include "tidemark/graph/node.h"

namespace tidemark::io::onnx {

Tensor number(double value, DType dtype) {
  const NoHandlers now;
  if (dtype == DType::float64) return Tensor(value);
  if (is_integer(dtype)) return as(Tensor(static_cast<int64_t>(value)), dtype);
  return as(Tensor(value), dtype);
}

Tensor vector_of(std::span<const int64_t> values) {
  return Tensor::of<int64_t>(values, Shape{static_cast<int64_t>(values.size())});
}

Tensor shape_of(const Tensor& x) {
  if (x.shape().has_rank() && x.shape().is_fully_known()) return vector_of(x.shape().dims());
  return shape(x, DType::int64);
}

Tensor dim_of(const Tensor& x, int axis) {
  const int64_t size = x.shape().has_rank() ? x.dim(axis) : kUnknownDim;
  if (size != kUnknownDim) return Tensor(size);
  const int at = axis < 0 ? axis + rank_of(x) : axis;
  return gather(shape(x, DType::int64), Tensor(int64_t{at}), std::nullopt, 0);
}

int rank_of(const Tensor& x) {
  if (!x.shape().has_rank()) throw ValueUnknownError("the number of dimensions must be known");
  return x.rank();
}

int64_t known_dim(const Tensor& x, int axis) {
  const int rank = rank_of(x);
  const int64_t size = x.dim(axis_of(axis, rank));
  if (size == kUnknownDim) throw ValueUnknownError("the size of a dimension must be known");
  return size;
}

int axis_of(int64_t axis, int rank) { return normalize_axis(axis, rank); }

Tensor reshaped(const Tensor& x, std::span<const int64_t> dims) {
  const NowIfKnown now(x);
  return reshape(x, vector_of(dims));
}
Tensor reshaped(const Tensor& x, std::initializer_list<int64_t> dims) {
  return reshaped(x, std::span(dims.begin(), dims.size()));
}

Tensor merged(const Tensor& x, int from, int to) {
  const int rank = rank_of(x);
  Ints dims;
  int unknown = 0;
  for (int i = 0; i < from; ++i) dims.push_back(x.dim(i));
  int64_t product = 1;
  for (int i = from; i < to; ++i) {
    product = product == kUnknownDim || x.dim(i) == kUnknownDim ? kUnknownDim : product * x.dim(i);
  }
  dims.push_back(product);
  for (int i = to; i < rank; ++i) dims.push_back(x.dim(i));
  for (const int64_t dim : dims) unknown += dim == kUnknownDim;
  if (unknown <= 1) return reshaped(x, dims);
  const Tensor sizes = shape_of(x);
  const Tensor parts[] = {slice(sizes, vector_of({0}), vector_of({from})), vector_of({-1}),
                          slice(sizes, vector_of({to}), vector_of({rank - to}))};
  return reshape(x, concat(parts, 0));
}

Tensor unsqueezed(const Tensor& x, Ints axes) {
  const int rank = rank_of(x) + static_cast<int>(axes.size());
  for (int64_t& axis : axes) axis = axis_of(axis, rank);
  std::sort(axes.begin(), axes.end());
  Tensor out = x;
  for (const int64_t axis : axes) out = expand_dims(out, axis);
  return out;
}

Tensor transposed(const Tensor& x, Ints perm) {
  const NowIfKnown now(x);
  return transpose(x, std::move(perm));
}

Tensor channels_last(const Tensor& x) {
  Ints perm{0};
  for (int i = 2; i < rank_of(x); ++i) perm.push_back(i);
  perm.push_back(1);
  return transposed(x, perm);
}

Tensor channels_first(const Tensor& x) {
  const int rank = rank_of(x);
  Ints perm{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) perm.push_back(i);
  return transposed(x, perm);
}

Tensor sliced(const Tensor& x, int axis, int64_t begin, int64_t end) {
  const NowIfKnown now(x);
  const auto rank = static_cast<size_t>(rank_of(x));
  const auto at = static_cast<size_t>(axis_of(axis, static_cast<int>(rank)));
  Ints begins(rank, 0), ends(rank, std::numeric_limits<int64_t>::max()), strides(rank, 1);
  begins[at] = begin;
  ends[at] = end;
  int64_t open = (int64_t{1} << rank) - 1;
  if (end != std::numeric_limits<int64_t>::max()) open &= ~(int64_t{1} << at);
  for (size_t i = 0; i < rank; ++i) {
    if ((open >> i) & 1) ends[i] = 0;  // not looked at
  }
  return strided_slice(x, vector_of(begins), vector_of(ends), vector_of(strides), 0, open);
}

Tensor picked(const Tensor& x, int axis, int64_t index) {
  const NowIfKnown now(x);
  return gather(x, Tensor(index), std::nullopt, axis_of(axis, rank_of(x)));
}

Tensor per_channel(const Tensor& vector, int rank, int axis) {
  Ints dims(static_cast<size_t>(rank), 1);
  dims[static_cast<size_t>(axis_of(axis, rank))] = -1;
  return reshaped(vector, dims);
}

Tensor clip(const Tensor& x, double low, double high) {
  return clip_by_value(x, number(low, x), number(high, x));
}

void fail_unknown(const Call& call, std::string_view what) {
  throw ValueUnknownError(message("[", call.title(), "] needs ", what, " before it runs"));
}

}  // namespace tidemark::io::onnx
