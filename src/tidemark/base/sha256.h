// SHA-256, and with a key HMAC-SHA-256: what messages between processes are signed with.
//
//   const Digest signature = hmac(secret, message);
//   if (!same(signature, received)) …                  // takes as long wherever they differ
#pragma once

#include <tidemark/export.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidemark {

using Digest = std::array<uint8_t, 32>;

class TIDEMARK_API Sha256 {
 public:
  void add(std::string_view bytes);
  /// Of all that was added; nothing may be added afterwards.
  Digest finish();

 private:
  void take(const uint8_t* block);

  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t rest_[64] = {};
  size_t in_rest_ = 0;
  uint64_t size_ = 0;
};

TIDEMARK_API Digest sha256(std::string_view bytes);
TIDEMARK_API Digest hmac(std::string_view key, std::string_view bytes);

inline std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

/// Whether they are equal, in a time that does not tell where they differ.
TIDEMARK_API bool same(std::string_view a, std::string_view b) noexcept;

}  // namespace tidemark
