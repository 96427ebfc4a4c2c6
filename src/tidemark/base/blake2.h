// BLAKE2b of a few bytes: numbers that depend on numbers.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <span>

namespace tidemark {

/// The digest of 8 bytes of the numbers' bytes, low ones first, as a number; at most 16 of them.
TIDEMARK_API uint64_t blake2b_64(std::span<const uint64_t> numbers);

}  // namespace tidemark
