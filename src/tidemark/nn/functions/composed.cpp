#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>

#include <cstring>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"

namespace tidemark {

Tensor detail::constant_of(DType dtype, const void* values, int64_t count, const Shape& shape,
                           const void* caller) {
  const memory::ScopedSite here(memory::site_of_address(caller));
  if (shape.num_elements() != count) {
    fail("[constant] shape ", shape, " has ", shape.num_elements(), " elements; ", count,
         " values were given");
  }
  const Tensor out = Tensor::uninitialized(dtype, shape);
  if (count > 0) std::memcpy(out.mutable_raw_data(), values, out.nbytes());
  return out;
}

Tensor detail::constant_of_rows(DType dtype, std::span<const RowOfConstant> rows,
                                const void* caller) {
  const memory::ScopedSite here(memory::site_of_address(caller));
  const size_t columns = rows.empty() ? 0 : rows[0].count;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].count == columns) continue;
    fail("[constant] rows are of one length: the first has ", columns, " elements, row ", i,
         " has ", rows[i].count);
  }
  const Tensor out = Tensor::uninitialized(
      dtype, {static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns)});
  const size_t bytes = columns * size_of(dtype);
  auto* at = static_cast<std::byte*>(out.mutable_raw_data());
  for (const RowOfConstant& row : rows) {
    if (bytes > 0) std::memcpy(std::exchange(at, at + bytes), row.values, bytes);
  }
  return out;
}

Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  TIDEMARK_HERE;
  return select(condition, x, y);
}

Tensor one_hot(const Tensor& indices, int64_t depth, DType dtype) {
  TIDEMARK_HERE;
  return one_hot(indices, Tensor(static_cast<int32_t>(depth)), cast(Tensor(1.f), dtype),
                 cast(Tensor(0.f), dtype));
}

Tensor eye(int64_t rows, int64_t columns, DType dtype) {
  TIDEMARK_HERE;
  const Tensor places = range(Tensor(int64_t{0}), Tensor(rows), Tensor(int64_t{1}));
  return one_hot(places, columns < 0 ? rows : columns, dtype);
}

Tensor read_file(const std::string& path) {
  TIDEMARK_HERE;
  const std::string_view names[] = {path};
  return read_file(Tensor::of_strings(names, {}));
}

Tensor read_file(const char* path) {
  TIDEMARK_HERE;
  return read_file(std::string(path));
}

Tensor norm(const Tensor& tensor, const NormOptions& options) {
  TIDEMARK_HERE;
  const Tensor squares = square(tensor);
  if (!options.axis.empty()) return sqrt(sum(squares, options.axis, options.keepdims));
  return sqrt(sum(squares, {.keepdims = options.keepdims}));
}

Tensor global_norm(const std::vector<Tensor>& tensors) {
  TIDEMARK_HERE;
  if (tensors.empty()) fail("[global_norm] there are no tensors");
  std::vector<Tensor> parts;
  for (const Tensor& one : tensors) parts.push_back(sum(square(one)));
  return sqrt(add_n(parts));
}

Tensor clip_by_norm(const Tensor& t, double clip_norm) {
  TIDEMARK_HERE;
  const Tensor limit = nn::number(clip_norm, t);
  return t * (limit / maximum(sqrt(sum(square(t))), limit));
}

std::pair<std::vector<Tensor>, Tensor> clip_by_global_norm(const std::vector<Tensor>& tensors,
                                                           double clip_norm) {
  TIDEMARK_HERE;
  const Tensor length = global_norm(tensors), limit = nn::number(clip_norm, length);
  const Tensor scale = limit / maximum(length, limit);
  std::vector<Tensor> out;
  for (const Tensor& one : tensors) out.push_back(one * cast(scale, one.dtype()));
  return {std::move(out), length};
}

}  // namespace tidemark
