#include "tidemark/io/partitioned.h"

#include <algorithm>
#include <cstring>

namespace tidemark::io {

namespace {

/// Each is compared with each.
constexpr size_t kMostParts = 4096;

int64_t begin_of(const Extent& extent) { return extent.length < 0 ? 0 : extent.start; }
int64_t length_of(const Extent& extent, int64_t size) {
  return extent.length < 0 ? size : extent.length;
}

bool lies_within(const Shape& whole, std::span<const Extent> part) {
  if (part.size() != static_cast<size_t>(whole.rank())) return false;
  for (int i = 0; i < whole.rank(); ++i) {
    const Extent& extent = part[static_cast<size_t>(i)];
    if (extent.length < -1 || extent.start < 0 || extent.start > whole[i]) return false;
    if (length_of(extent, whole[i]) > whole[i] - begin_of(extent)) return false;
  }
  return true;
}

bool overlap(const Shape& whole, std::span<const Extent> a, std::span<const Extent> b) {
  for (int i = 0; i < whole.rank(); ++i) {
    const Extent &x = a[static_cast<size_t>(i)], &y = b[static_cast<size_t>(i)];
    if (begin_of(x) >= begin_of(y) + length_of(y, whole[i])) return false;
    if (begin_of(y) >= begin_of(x) + length_of(x, whole[i])) return false;
  }
  return true;
}

}  // namespace

Shape shape_of_part(const Shape& whole, std::span<const Extent> part) {
  Shape out = whole;
  for (int i = 0; i < whole.rank(); ++i) {
    out[i] = length_of(part[static_cast<size_t>(i)], whole[i]);
  }
  return out;
}

const char* find_fault_of_parts(const Shape& whole, std::span<const std::vector<Extent>> parts) {
  if (parts.size() > kMostParts) return "are too many";
  int64_t elements = 0, wanted = 0;
  try {
    wanted = whole.num_elements();
  } catch (const Error&) {
    return "have too many elements";
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!lies_within(whole, parts[i])) return "do not all lie within it";
    for (size_t j = 0; j < i; ++j) {
      if (overlap(whole, parts[i], parts[j])) return "overlap";
    }
    elements += shape_of_part(whole, parts[i]).num_elements();  // all apart: never over `wanted`
  }
  return elements == wanted ? nullptr : "do not cover it";
}

void copy_part(const Tensor& whole, std::span<const Extent> part, const Tensor& value) {
  if (value.num_elements() == 0) return;
  const int rank = whole.rank();
  const size_t element = size_of(whole.dtype());
  auto* to = static_cast<char*>(whole.mutable_raw_data());
  const auto* from = static_cast<const char*>(value.raw_data());
  if (rank == 0) {
    std::memcpy(to, from, element);
    return;
  }
  const int64_t row = value.dim(-1);
  const size_t row_bytes = static_cast<size_t>(row) * element;
  std::vector<int64_t> position(static_cast<size_t>(rank), 0);
  for (int64_t done = 0; done < value.num_elements(); done += row) {
    int64_t at = 0;
    for (int i = 0; i < rank; ++i) {
      const auto axis = static_cast<size_t>(i);
      at = at * whole.dim(i) + begin_of(part[axis]) + position[axis];
    }
    std::memcpy(to + static_cast<size_t>(at) * element, from, row_bytes);
    from += row_bytes;
    for (int i = rank - 2; i >= 0; --i) {
      if (++position[static_cast<size_t>(i)] < value.dim(i)) break;
      position[static_cast<size_t>(i)] = 0;
    }
  }
}

}  // namespace tidemark::io
