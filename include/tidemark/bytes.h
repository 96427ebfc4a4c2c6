// Byte sizes, as code writes them and as people read them.
//
//   td::memory::set_limit(td::MiB(64));
//   std::cout << td::format_bytes(1536);          // "1.5 KiB"
#pragma once

#include <tidemark/export.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tidemark {

constexpr int64_t KiB(int64_t n) { return n << 10; }
constexpr int64_t MiB(int64_t n) { return n << 20; }
constexpr int64_t GiB(int64_t n) { return n << 30; }

/// "0 B", "1.5 KiB", "64 MiB": at most four significant characters, binary units.
TIDEMARK_API std::string format_bytes(int64_t bytes);

/// Reads "512", "64MiB", "1.5 GiB", "2g", "10 kb" (all units binary).
/// Throws InvalidArgumentError on anything else, on negatives and on overflow.
TIDEMARK_API int64_t parse_bytes(const std::string& text);

}  // namespace tidemark
