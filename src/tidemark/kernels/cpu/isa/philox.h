// Philox 4x32-10 (Salmon et al., 2011) over vectors: each 64-bit lane holds one word of one block
// in its lower half; what stands in the upper half does not matter.
#pragma once

#include "tidemark/base/random_state.h"
#include "tidemark/kernels/cpu/isa/lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tidemark::cpu::TIDEMARK_ISA {

/// Lower halves of the lanes times a 32-bit constant.
[[gnu::always_inline]] inline Vec<uint64_t> multiply_halves(Vec<uint64_t> a, uint32_t constant) {
  const Vec<uint64_t> b = broadcast<uint64_t>(constant);
#if defined(__AVX512F__)
  // The masked form, as g++ 12 warns inside the plain one.
  return bits_as<Vec<uint64_t>>(
      _mm512_maskz_mul_epu32(0xff, bits_as<__m512i>(a), bits_as<__m512i>(b)));
#elif defined(__AVX2__)
  return bits_as<Vec<uint64_t>>(_mm256_mul_epu32(bits_as<__m256i>(a), bits_as<__m256i>(b)));
#elif defined(__SSE2__)
  return bits_as<Vec<uint64_t>>(_mm_mul_epu32(bits_as<__m128i>(a), bits_as<__m128i>(b)));
#else
  return (a & 0xffffffffu) * b;
#endif
}

struct PhiloxWords {
  Vec<uint64_t> word[4];
};

/// As many neighbouring blocks as there are 64-bit lanes, from `block` of the stream on.
[[gnu::always_inline]] inline PhiloxWords philox(const RandomStream& s, uint64_t block) {
  using V = Vec<uint64_t>;
  V low;
  for (int64_t l = 0; l < kLanes<uint64_t>; ++l) low[l] = static_cast<uint64_t>(l);
  low += s.counter_low + block;
  V c0 = low, c1 = low >> 32;
  V c2 = broadcast<uint64_t>(s.counter_high), c3 = broadcast<uint64_t>(s.counter_high >> 32);
  uint32_t k0 = static_cast<uint32_t>(s.key), k1 = static_cast<uint32_t>(s.key >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const V p0 = multiply_halves(c0, 0xd2511f53u), p1 = multiply_halves(c2, 0xcd9e8d57u);
    c0 = (p1 >> 32) ^ c1 ^ k0;
    c1 = p1;
    c2 = (p0 >> 32) ^ c3 ^ k1;
    c3 = p0;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return {{c0, c1, c2, c3}};
}

/// Words of two sets of blocks as 32-bit lanes: even lanes from the first set.
[[gnu::always_inline]] inline Vec<uint32_t> lanes32(Vec<uint64_t> even, Vec<uint64_t> odd) {
  return bits_as<Vec<uint32_t>>((even & 0xffffffffu) | (odd << 32));
}

}  // namespace tidemark::cpu::TIDEMARK_ISA
