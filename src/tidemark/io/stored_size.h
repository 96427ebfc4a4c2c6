// What a shape says against the bytes that are there.
#pragma once

#include <tidemark/shape.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tidemark::io {

/// The elements of a fully known shape if each takes at least `each` bytes of `room`; none: more
/// than that room holds. No product overflows on the way.
inline std::optional<uint64_t> elements_within(const Shape& shape, uint64_t each, uint64_t room) {
  const auto is_zero = [](int64_t size) { return size == 0; };
  if (std::any_of(shape.begin(), shape.end(), is_zero)) return 0;
  uint64_t elements = 1;
  for (const int64_t size : shape) {
    if (static_cast<uint64_t>(size) > room / each / elements) return std::nullopt;
    elements *= static_cast<uint64_t>(size);
  }
  if (elements > room / each) return std::nullopt;
  return elements;
}

}  // namespace tidemark::io
