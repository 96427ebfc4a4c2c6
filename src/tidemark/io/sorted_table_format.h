// Numbers that readers and writers of sorted tables share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark::io::table {

inline constexpr uint64_t kMagic = 0xdb4775248b80fb57;
/// Two places of at most 20 bytes each, and the magic number.
inline constexpr size_t kPlaces = 40, kFooter = kPlaces + sizeof(uint64_t);
/// Behind each block: how it is compressed, and the checksum of it and that.
inline constexpr size_t kTrailer = 5;
inline constexpr char kUncompressed = 0, kSnappy = 1;

}  // namespace tidemark::io::table
