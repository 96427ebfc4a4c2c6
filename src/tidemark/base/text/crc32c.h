// CRC-32C (Castagnoli), the checksum of TFRecord files and of checkpoints.
//
//   uint32_t sum = crc32c(first);
//   sum = crc32c(second, sum);               // that of both, one after the other
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <string_view>

namespace tidemark::text {

/// `before` is the checksum of the bytes that precede these.
TIDEMARK_API uint32_t crc32c(std::string_view bytes, uint32_t before = 0);

/// That of two texts, one after the other, of which each was summed on its own.
TIDEMARK_API uint32_t joined_crc32c(uint32_t first, uint32_t second, uint64_t second_bytes);

/// As TensorFlow's files store a checksum, so that one over bytes that hold one stays useful.
constexpr uint32_t masked_crc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace tidemark::text
