// Hashes of byte strings that programs store and compare: their values never change.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <string_view>

namespace tidemark::text {

/// FarmHash's Fingerprint64.
TIDEMARK_API uint64_t farm_fingerprint(std::string_view bytes);
/// MurmurHash64A under the seed TensorFlow's string_to_hash_bucket uses.
TIDEMARK_API uint64_t murmur_hash(std::string_view bytes);
/// SipHash-2-4 under a key of 128 bits.
TIDEMARK_API uint64_t sip_hash(uint64_t key0, uint64_t key1, std::string_view bytes);

}  // namespace tidemark::text
