// Conversions between float and the half types, copies past the caches, repeating, choosing.

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "tidemark/kernels/cpu/elementwise/loop.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

[[gnu::always_inline]] inline float float_of(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
[[gnu::always_inline]] inline uint32_t bits_of(float value) {
  return __builtin_bit_cast(uint32_t, value);
}

[[gnu::always_inline]] inline float half_bits_to_float(uint32_t h) {
  const uint32_t magnitude = (h & 0x7fffu) << 13;
  // Multiplying by 2^112 rebiases the exponent and renormalises subnormals, exactly.
  const float scaled = float_of(magnitude) * 0x1p112f;
  const uint32_t special = magnitude | 0x7f800000u;  // infinity and NaN
  const uint32_t bits = magnitude >= 0x0f800000u ? special : bits_of(scaled);
  return float_of(bits | (h & 0x8000u) << 16);
}

[[gnu::always_inline]] inline uint16_t float_to_half_bits(float value) {
  const uint32_t f = bits_of(value);
  const uint32_t sign = (f >> 16) & 0x8000u;
  const uint32_t magnitude = f & 0x7fffffffu;
  const uint32_t normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
  // Adding one half lets the hardware round a subnormal result to nearest even.
  const uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x47800000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? 0x7e00u : result;
  return static_cast<uint16_t>(result | sign);
}

void half_to_float(float* out, const uint16_t* in, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(h));
  }
#endif
  for (; i < n; ++i) out[i] = half_bits_to_float(in[i]);
}

void float_to_half(uint16_t* out, const float* in, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), h);
  }
#endif
  for (; i < n; ++i) out[i] = float_to_half_bits(in[i]);
}

void bfloat16_to_float(float* out, const uint16_t* in, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = float_of(static_cast<uint32_t>(in[i]) << 16);
}

void float_to_bfloat16(uint16_t* out, const float* in, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t f = bits_of(in[i]);
    const uint32_t rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
    const uint32_t quiet = (f >> 16) | 0x0040u;
    out[i] = static_cast<uint16_t>((f & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
  }
}

void stream(void* out, const void* in, int64_t bytes) {
  char* to = static_cast<char*>(out);
  const char* from = static_cast<const char*>(in);
  const auto misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) & 63);
  const int64_t head = misaligned == 0 ? 0 : bytes < 64 - misaligned ? bytes : 64 - misaligned;
  __builtin_memcpy(to, from, static_cast<size_t>(head));
  to += head;
  from += head;
  bytes -= head;
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 64 <= bytes; i += 64) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i),
                        _mm512_loadu_si512(reinterpret_cast<const void*>(from + i)));
  }
#elif defined(__AVX__)
  for (; i + 32 <= bytes; i += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
  }
#elif defined(__SSE2__)
  for (; i + 16 <= bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
#endif
  __builtin_memcpy(to + i, from + i, static_cast<size_t>(bytes - i));
}

void end_stream() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

struct Sixteen {
  uint64_t low, high;
};

template <class T>
[[gnu::always_inline]] inline void fill_typed(void* out, const void* value, int64_t n) {
  T v;
  __builtin_memcpy(&v, value, sizeof(T));
  T* y = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = v;
}

void fill(void* out, const void* value, int64_t size, int64_t n) {
  switch (size) {
    case 1:
      return fill_typed<uint8_t>(out, value, n);
    case 2:
      return fill_typed<uint16_t>(out, value, n);
    case 4:
      return fill_typed<uint32_t>(out, value, n);
    case 8:
      return fill_typed<uint64_t>(out, value, n);
    default:
      return fill_typed<Sixteen>(out, value, n);
  }
}

template <class T>
LoopStatus select(void* out, const void* const* in, int64_t n, const LoopParams&) {
  const uint8_t* condition = static_cast<const uint8_t*>(in[0]);
  const T* x = static_cast<const T*>(in[1]);
  const T* y = static_cast<const T*>(in[2]);
  T* z = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T a = x[i], b = y[i];
    z[i] = condition[i] ? a : b;
  }
  return LoopStatus::ok;
}

}  // namespace

extern constinit const BlockTable blocks;
constinit const BlockTable blocks = {
    half_to_float,
    float_to_half,
    bfloat16_to_float,
    float_to_bfloat16,
    stream,
    end_stream,
    fill,
    select<uint8_t>,
    select<uint16_t>,
    select<uint32_t>,
    select<uint64_t>,
    select<Sixteen>,
};

}  // namespace tidemark::cpu::TIDEMARK_ISA
