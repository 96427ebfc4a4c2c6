// Memory that an object outside says it has: checked before it is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark::python {

/// Where the elements of a strided array lie, in bytes from its first element: [low, high).
struct Reach {
  int64_t low = 0;
  int64_t high = 0;
};

/// False when the sizes are too large for an address. Strides count in `unit` bytes; none: rows of
/// `item` bytes follow one another. Sizes are not negative; without elements the reach is empty.
bool find_reach(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t unit,
                int64_t item, Reach& reach);

/// True iff every page of the reach from this address on is mapped.
bool is_mapped_memory(uintptr_t address, Reach reach);

}  // namespace tidemark::python
