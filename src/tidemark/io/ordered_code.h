// The keys under which a checkpoint keeps the parts of a partitioned tensor: bytes that sort as
// what they stand for does.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tidemark::io {

/// A part of a tensor in one dimension; all of it where `length` is -1.
struct Extent {
  int64_t start = 0, length = -1;
};

TIDEMARK_API std::string slice_key(std::string_view tensor, std::span<const Extent> part);

}  // namespace tidemark::io
