#include "tidemark/nn/shapes.h"

#include <tidemark/ops.h>

#include <algorithm>

#include "tidemark/nn/scalars.h"

namespace tidemark::nn {

Tensor vector_of(const Ints& values) {
  const std::vector<int32_t> sizes(values.begin(), values.end());
  return Tensor::of(std::span<const int32_t>(sizes), {static_cast<int64_t>(sizes.size())});
}

Tensor sizes_of(const Tensor& x) {
  if (!x.shape().is_fully_known()) return shape(x);
  return vector_of(Ints(x.shape().begin(), x.shape().end()));
}

Tensor sizes_then(const Tensor& x, int count, const Ints& rest) {
  const Shape& sizes = x.shape();
  Ints known;
  for (int i = 0; i < count; ++i) known.push_back(sizes[i]);
  if (std::find(known.begin(), known.end(), kUnknownDim) != known.end()) {
    const Tensor parts[] = {part(shape(x), 0, 0, count), vector_of(rest)};
    return concat(parts, 0);
  }
  known.insert(known.end(), rest.begin(), rest.end());
  return vector_of(known);
}

Tensor size_at(const Tensor& x, int axis) {
  if (x.shape().has_rank() && x.shape()[axis] != kUnknownDim) {
    return Tensor(static_cast<int32_t>(x.shape()[axis]));
  }
  return gather(shape(x), Tensor(axis));
}

void check_rank(std::string_view what, const Tensor& x, int least) {
  if (x.shape().has_rank() && x.rank() >= least) return;
  fail("[", what, "] the tensor needs at least ", least,
       " dimensions. Received shape: ", x.shape());
}

int64_t known_size(std::string_view what, const Tensor& x, int axis) {
  check_rank(what, x, axis < 0 ? -axis : axis + 1);
  const int64_t size = x.dim(axis);
  if (size != kUnknownDim) return size;
  fail("[", what, "] the size of dimension ", axis,
       " has to be known. Received shape: ", x.shape());
}

Tensor part(const Tensor& x, int axis, int64_t begin, int64_t size) {
  const int place = normalize_axis(axis, x.rank());
  Ints starts(static_cast<size_t>(x.rank()), 0), sizes(starts.size(), -1);
  starts[static_cast<size_t>(place)] = begin;
  sizes[static_cast<size_t>(place)] = size;
  return slice(x, vector_of(starts), vector_of(sizes));
}

Tensor at(const Tensor& x, int axis, int64_t place) {
  return squeeze(part(x, axis, place, 1), Ints{normalize_axis(axis, x.rank())});
}

Tensor padded(const Tensor& x, int axis, int64_t before, int64_t after) {
  const auto place = static_cast<size_t>(normalize_axis(axis, x.rank()));
  Ints edges(2 * static_cast<size_t>(x.rank()), 0);
  edges[2 * place] = before;
  edges[2 * place + 1] = after;
  return pad(x, reshape(vector_of(edges), vector_of({x.rank(), 2})), "CONSTANT", number(0, x));
}

Tensor steps(int64_t count, DType dtype) {
  return cast(range(Tensor(int64_t{0}), Tensor(count), Tensor(int64_t{1})), dtype);
}

}  // namespace tidemark::nn
