#include "tidemark/base/blake2.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tidemark {

namespace {

constexpr std::array<uint64_t, 8> kStart = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

constexpr uint8_t kOrder[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

using State = std::array<uint64_t, 16>;

void mix(State& v, size_t a, size_t b, size_t c, size_t d, uint64_t x, uint64_t y) {
  v[a] += v[b] + x;
  v[d] = std::rotr(v[d] ^ v[a], 32);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 24);
  v[a] += v[b] + y;
  v[d] = std::rotr(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 63);
}

}  // namespace

uint64_t blake2b_64(std::span<const uint64_t> numbers) {
  constexpr uint64_t kDigestBytes = 8, kPlain = 0x01010000;
  std::array<uint64_t, 16> block{};
  std::ranges::copy(numbers.first(std::min<size_t>(numbers.size(), block.size())), block.begin());
  State v;
  std::ranges::copy(kStart, v.begin());
  std::ranges::copy(kStart, v.begin() + 8);
  const uint64_t first = kStart[0] ^ kPlain ^ kDigestBytes;
  v[0] = first;
  v[12] ^= numbers.size_bytes();
  v[14] = ~v[14];  // the only block is the last
  for (size_t round = 0; round < 12; ++round) {
    const uint8_t* order = kOrder[round % 10];
    for (size_t i = 0; i < 4; ++i) {
      mix(v, i, i + 4, i + 8, i + 12, block[order[2 * i]], block[order[2 * i + 1]]);
    }
    for (size_t i = 0; i < 4; ++i) {
      mix(v, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, block[order[2 * i + 8]],
          block[order[2 * i + 9]]);
    }
  }
  return first ^ v[0] ^ v[8];
}

}  // namespace tidemark
