#include "tidemark/base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace tidemark {

namespace {

/// The first 32 bits of the fractions of the cube roots of the first 64 primes (FIPS 180-4).
constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr size_t kBlock = 64;

uint32_t big_endian(const uint8_t* from) {
  return uint32_t{from[0]} << 24 | uint32_t{from[1]} << 16 | uint32_t{from[2]} << 8 | from[3];
}

}  // namespace

void Sha256::take(const uint8_t* block) {
  uint32_t w[64];
  for (size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t x = w[i - 15], y = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3)) +
           (std::rotr(y, 17) ^ std::rotr(y, 19) ^ (y >> 10));
  }
  uint32_t v[8];
  std::copy_n(state_, 8, v);
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t e = v[4], a = v[0];
    const uint32_t first = v[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & v[5]) ^ (~e & v[6])) + kRounds[i] + w[i];
    const uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                            ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    std::copy_backward(v, v + 7, v + 8);
    v[4] += first;
    v[0] = first + second;
  }
  for (size_t i = 0; i < 8; ++i) state_[i] += v[i];
}

void Sha256::add(std::string_view bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const size_t taken = std::min(bytes.size(), kBlock - in_rest_);
    std::memcpy(rest_ + in_rest_, bytes.data(), taken);
    bytes.remove_prefix(taken);
    in_rest_ += taken;
    if (in_rest_ == kBlock) {
      take(rest_);
      in_rest_ = 0;
    }
  }
}

Digest Sha256::finish() {
  const uint64_t bits = size_ * 8;
  add(std::string_view("\x80", 1));
  while (in_rest_ != kBlock - 8) add(std::string_view("\0", 1));
  char length[8];
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(bits >> (56 - 8 * i));
  add({length, 8});
  Digest out;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return out;
}

Digest sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.finish();
}

Digest hmac(std::string_view key, std::string_view bytes) {
  std::string padded(key);
  if (padded.size() > kBlock) padded = view(sha256(key));
  padded.resize(kBlock, '\0');
  std::string outer = padded;
  for (char& c : padded) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  Sha256 inner;
  inner.add(padded);
  inner.add(bytes);
  Sha256 whole;
  whole.add(outer);
  whole.add(view(inner.finish()));
  return whole.finish();
}

bool same(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  unsigned char differing = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differing = static_cast<unsigned char>(differing | (a[i] ^ b[i]));
  }
  return differing == 0;
}

}  // namespace tidemark
