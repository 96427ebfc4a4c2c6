#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>

#include <algorithm>
#include <cstring>

#include "tidemark/nn/building.h"
#include "tidemark/nn/number_ranges.h"
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

Tensor constant(const char* value) {
  TIDEMARK_HERE;
  const std::string_view all[] = {value};
  return Tensor::of_strings(all, {});
}

Tensor constant(std::initializer_list<const char*> values) {
  TIDEMARK_HERE;
  const std::vector<std::string_view> all(values.begin(), values.end());
  return Tensor::of_strings(all, {static_cast<int64_t>(all.size())});
}

Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  TIDEMARK_HERE;
  return select(condition, x, y);
}

Tensor where(const Tensor& condition) {
  TIDEMARK_HERE;
  if (condition.dtype() == DType::bool_) return nonzero(condition);
  return nonzero(not_equal(condition, zeros_like(condition)));
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

Tensor global_norm(const std::vector<Tensor>& tensors) {
  TIDEMARK_HERE;
  if (tensors.empty()) fail("[global_norm] there are no tensors");
  std::vector<Tensor> parts;
  for (const Tensor& one : tensors) parts.push_back(sum(square(one)));
  return sqrt(add_n(parts));
}

Tensor clip_by_norm(const Tensor& t, double clip_norm, const std::optional<Ints>& axes) {
  TIDEMARK_HERE;
  const Tensor limit = nn::number(clip_norm, t), squares = sum(square(t), axes, true);
  // The gradient of the root at 0 is infinite, that of what is chosen is not.
  const Tensor is_positive = greater(squares, nn::number(0, t));
  const Tensor safe = select(is_positive, squares, ones_like(squares));
  return t * limit / maximum(select(is_positive, sqrt(safe), squares), limit);
}

std::pair<std::vector<Tensor>, Tensor> clip_by_global_norm(const std::vector<Tensor>& tensors,
                                                           double clip_norm,
                                                           const Tensor& use_norm) {
  TIDEMARK_HERE;
  const Tensor length = use_norm ? use_norm : global_norm(tensors);
  const Tensor limit = nn::number(clip_norm, length);
  // An infinite norm gives NaN everywhere, so that it is noticed.
  const Tensor scale = limit * minimum(reciprocal(length), reciprocal(limit)) + (length - length);
  std::vector<Tensor> out;
  for (const Tensor& one : tensors) out.push_back(one * cast(scale, one.dtype()));
  return {std::move(out), length};
}

Tensor convert_to_tensor(const Tensor& value, const std::optional<DType>& dtype) {
  TIDEMARK_HERE;
  return dtype && *dtype != value.dtype() ? cast(value, *dtype) : value;
}

Tensor divide(const Tensor& x, const Tensor& y) {
  TIDEMARK_HERE;
  const auto as_float = [](const Tensor& t) {
    if (!is_integer(t.dtype())) return t;
    return cast(t, size_of(t.dtype()) < 4 ? DType::float32 : DType::float64);
  };
  if (is_integer(x.dtype()) && is_integer(y.dtype())) return truediv(as_float(x), as_float(y));
  return truediv(x, y);
}

Tensor realdiv(const Tensor& x, const Tensor& y) {
  TIDEMARK_HERE;
  return divide(x, y);
}

Tensor scalar_mul(const Tensor& scalar, const Tensor& x) {
  TIDEMARK_HERE;
  if (scalar.shape().has_rank() && scalar.rank() != 0) {
    fail("[scalar_mul] the first is a scalar. Received shape: ", scalar.shape());
  }
  return cast(scalar, x.dtype()) * x;
}

Tensor saturate_cast(const Tensor& value, DType dtype) {
  TIDEMARK_HERE;
  const DType own = value.dtype();
  // Bounds outside of the own type do not bind. Of floats, cast lets integers end at theirs.
  if (is_integer(own) && is_integer(dtype)) {
    const nn::IntegerRange mine = nn::integer_range(own), theirs = nn::integer_range(dtype);
    const int64_t low = std::max(mine.lowest, theirs.lowest);
    const Tensor high = Tensor::of<uint64_t>({std::min(mine.highest, theirs.highest)}, {});
    return cast(clip_by_value(value, cast(Tensor(low), own), cast(high, own)), dtype);
  }
  if (is_floating(own) && is_floating(dtype)) {
    const double highest = nn::highest_float(dtype);
    if (highest < nn::highest_float(own)) {
      const Tensor low = nn::number(-highest, value), high = nn::number(highest, value);
      return cast(clip_by_value(value, low, high), dtype);
    }
  }
  return cast(value, dtype);
}

}  // namespace tidemark
