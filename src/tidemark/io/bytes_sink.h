// A growing string of bytes in the wire format, and how shapes stand in it.
#pragma once

#include <tidemark/shape.h>

#include <string>

#include "tidemark/base/wire.h"

namespace tidemark::io {

struct BytesSink {
  std::string bytes;
  void append(char c) { bytes.push_back(c); }
  void append(std::string_view text) { bytes.append(text); }
};

/// Eight bytes a size; one byte alone: the rank is unknown.
inline void put_shape(BytesSink& sink, uint32_t number, const Shape& shape) {
  if (!shape.has_rank()) return put_bytes_field(sink, number, "?");
  const std::span<const int64_t> dims = shape.dims();
  put_bytes_field(sink, number, {reinterpret_cast<const char*>(dims.data()), dims.size_bytes()});
}

/// False: malformed.
inline bool take_shape(std::string_view bytes, Shape& shape) {
  if (bytes.size() == 1) {
    shape = Shape::unknown();
    return true;
  }
  const size_t rank = bytes.size() / sizeof(int64_t);
  if (bytes.size() % sizeof(int64_t) != 0 || rank > size_t{Shape::kMaxRank}) return false;
  shape = Shape::filled(static_cast<int>(rank), 0);
  for (int i = 0; i < static_cast<int>(rank); ++i) {
    int64_t size = 0;
    if (!take_fixed(bytes, size) || size < kUnknownDim) return false;
    shape[i] = size;
  }
  return true;
}

}  // namespace tidemark::io
