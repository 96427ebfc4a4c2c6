#include "tidemark/base/text/fingerprint.h"

#include <bit>
#include <cstring>
#include <utility>

namespace tidemark::text {

namespace {

// Multipliers of CityHash and FarmHash: odd, with bits spread evenly.
constexpr uint64_t kMul0 = 0xc3a5c85c97cb3127u;
constexpr uint64_t kMul1 = 0xb492b66fbe98f273u;
constexpr uint64_t kMul2 = 0x9ae16a3b2f90404fu;

uint64_t load64(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

uint64_t load32(const char* at) {
  uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

uint64_t fold(uint64_t x) { return x ^ (x >> 47); }

uint64_t join(uint64_t a, uint64_t b, uint64_t mul) {
  const uint64_t first = fold((a ^ b) * mul);
  return fold((b ^ first) * mul) * mul;
}

uint64_t farm_up_to_16(const char* s, uint64_t size) {
  if (size >= 8) {
    const uint64_t mul = kMul2 + size * 2;
    const uint64_t a = load64(s) + kMul2;
    const uint64_t b = load64(s + size - 8);
    return join(std::rotr(b, 37) * mul + a, (std::rotr(a, 25) + b) * mul, mul);
  }
  if (size >= 4) {
    return join(size + (load32(s) << 3), load32(s + size - 4), kMul2 + size * 2);
  }
  if (size == 0) return kMul2;
  const auto byte = [&](uint64_t i) { return uint64_t{static_cast<unsigned char>(s[i])}; };
  const uint64_t y = byte(0) + (byte(size >> 1) << 8);
  const uint64_t z = size + (byte(size - 1) << 2);
  return fold((y * kMul2) ^ (z * kMul0)) * kMul2;
}

uint64_t farm_up_to_32(const char* s, uint64_t size) {
  const uint64_t mul = kMul2 + size * 2;
  const uint64_t a = load64(s) * kMul1;
  const uint64_t b = load64(s + 8);
  const uint64_t c = load64(s + size - 8) * mul;
  const uint64_t d = load64(s + size - 16) * kMul2;
  return join(std::rotr(a + b, 43) + std::rotr(c, 30) + d, a + std::rotr(b + kMul2, 18) + c, mul);
}

uint64_t farm_up_to_64(const char* s, uint64_t size) {
  const uint64_t mul = kMul2 + size * 2;
  const uint64_t a = load64(s) * kMul2;
  const uint64_t b = load64(s + 8);
  const uint64_t c = load64(s + size - 8) * mul;
  const uint64_t d = load64(s + size - 16) * kMul2;
  const uint64_t y = std::rotr(a + b, 43) + std::rotr(c, 30) + d;
  const uint64_t z = join(y, a + std::rotr(b + kMul2, 18) + c, mul);
  const uint64_t e = load64(s + 16) * mul;
  const uint64_t f = load64(s + 24);
  const uint64_t g = (y + load64(s + size - 32)) * mul;
  const uint64_t h = (z + load64(s + size - 24)) * mul;
  return join(std::rotr(e + f, 43) + std::rotr(g, 30) + h, e + std::rotr(f + a, 18) + g, mul);
}

/// 448 bits of state, stirred with 64 bytes at a time.
struct FarmState {
  uint64_t x, y, z;
  std::pair<uint64_t, uint64_t> v{0, 0}, w{0, 0};

  static std::pair<uint64_t, uint64_t> stir(const char* s, uint64_t a, uint64_t b) {
    const uint64_t last = load64(s + 24);
    a += load64(s);
    b = std::rotr(b + a + last, 21);
    const uint64_t before = a;
    a += load64(s + 8) + load64(s + 16);
    return {a + last, b + std::rotr(a, 44) + before};
  }

  void take(const char* s, uint64_t mul, uint64_t weight) {
    x = std::rotr(x + y + v.first + load64(s + 8), 37) * mul;
    y = std::rotr(y + v.second + load64(s + 48), 42) * mul;
    x ^= w.second * weight;
    y += v.first * weight + load64(s + 40);
    z = std::rotr(z + w.first, 33) * mul;
    v = stir(s, v.second * mul, x + w.first);
    w = stir(s + 32, z + w.second, y + load64(s + 16));
    std::swap(z, x);
  }
};

uint64_t farm_long(const char* s, uint64_t size) {
  constexpr uint64_t kSeed = 81;
  FarmState state{};
  state.x = kSeed * kMul2 + load64(s);
  state.y = kSeed * kMul1 + 113;
  state.z = fold(state.y * kMul2 + 113) * kMul2;
  const uint64_t left = (size - 1) & 63;
  const char* end = s + (size - 1) / 64 * 64;
  for (const char* block = s; block != end; block += 64) state.take(block, kMul1, 1);
  const uint64_t mul = kMul1 + ((state.z & 0xff) << 1);
  state.w.first += left;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.take(end + left - 63, mul, 9);  // the last 64 bytes, some of them for the second time
  return join(join(state.v.first, state.w.first, mul) + fold(state.y) * kMul0 + state.z,
              join(state.v.second, state.w.second, mul) + state.x, mul);
}

}  // namespace

uint64_t farm_fingerprint(std::string_view bytes) {
  const uint64_t size = bytes.size();
  if (size <= 16) return farm_up_to_16(bytes.data(), size);
  if (size <= 32) return farm_up_to_32(bytes.data(), size);
  if (size <= 64) return farm_up_to_64(bytes.data(), size);
  return farm_long(bytes.data(), size);
}

uint64_t murmur_hash(std::string_view bytes) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995u;
  constexpr uint64_t kSeed = 0xDECAFCAFFEu;
  uint64_t h = kSeed ^ (bytes.size() * kMul);
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word = load64(bytes.data() + at) * kMul;
    word ^= word >> 47;
    h = (h ^ (word * kMul)) * kMul;
  }
  if (at < bytes.size()) {
    uint64_t rest = 0;
    std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
    h = (h ^ rest) * kMul;
  }
  h = fold(h) * kMul;
  return fold(h);
}

uint64_t sip_hash(uint64_t key0, uint64_t key1, std::string_view bytes) {
  uint64_t v0 = key0 ^ 0x736f6d6570736575u, v1 = key1 ^ 0x646f72616e646f6du;
  uint64_t v2 = key0 ^ 0x6c7967656e657261u, v3 = key1 ^ 0x7465646279746573u;
  const auto round = [&] {
    v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
    v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
  };
  const auto take = [&](uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  };
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) take(load64(bytes.data() + at));
  uint64_t last = uint64_t{bytes.size()} << 56;
  if (at < bytes.size()) std::memcpy(&last, bytes.data() + at, bytes.size() - at);
  take(last);
  v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace tidemark::text
