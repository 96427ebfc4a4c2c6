// Loops of the random ops; compiled once per instruction-set level.

#include "tidemark/kernels/cpu/isa/random_loops.h"

#include <cmath>

#include "tidemark/kernels/cpu/isa/narrow.h"
#include "tidemark/kernels/cpu/isa/philox.h"
#include "tidemark/kernels/cpu/isa/random_math.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

constexpr int64_t kBlocksAtOnce = kLanes<uint64_t>;
constexpr double kTwoSigmas = 0.95449973610364158560;  // erf(sqrt(2))
constexpr float kBelowTwo = 1.99999988f;

using V32 = Vec<uint32_t>;
using V64 = Vec<uint64_t>;
using F32 = Vec<float>;
using F64 = Vec<double>;

/// Uniform in (0, 1]: the middle of the interval each integer stands for.
[[gnu::always_inline]] inline F32 open_uniform(V32 bits) {
  return (__builtin_convertvector(bits, F32) + 0.5f) * 0x1p-32f;
}
/// Uniform in [0, 1) with `keep` bits, all of them exact.
template <int keep>
[[gnu::always_inline]] inline F32 half_open_uniform(V32 bits) {
  constexpr float kScale = 1.f / static_cast<float>(1 << keep);
  return __builtin_convertvector(bits_as<Vec<int32_t>>(bits >> (32 - keep)), F32) * kScale;
}
[[gnu::always_inline]] inline F64 half_open_uniform(V64 bits) {
  // 52 bits as the mantissa of a number in [1, 2).
  return bits_as<F64>((bits >> 12) | 0x3ff0000000000000u) - 1.0;
}

/// Writes one vector, around the caches where asked.
template <class V>
[[gnu::always_inline]] inline void put(V value, void* out, bool past_caches) {
#if defined(__AVX512F__)
  if (past_caches) return _mm512_stream_si512(static_cast<__m512i*>(out), bits_as<__m512i>(value));
#elif defined(__AVX2__)
  if (past_caches) return _mm256_stream_si256(static_cast<__m256i*>(out), bits_as<__m256i>(value));
#elif defined(__SSE2__)
  if (past_caches) return _mm_stream_si128(static_cast<__m128i*>(out), bits_as<__m128i>(value));
#endif
  (void)past_caches;
  __builtin_memcpy(out, &value, sizeof(value));
}

template <class T>
[[gnu::always_inline]] inline void put_floats(F32 value, T* out, bool past_caches) {
  if constexpr (__is_same(T, float)) {
    put(value, out, past_caches);
  } else {
    for (int64_t l = 0; l < kLanes<float>; ++l) narrow(value[l], out[l]);
  }
}

/// A group of 64 elements from four words a block. How makes four vectors of four.
template <class How>
struct Narrow {
  using T = typename How::T;
  static constexpr int64_t kGroup = 64;
  [[gnu::always_inline]] static void group(const RandomDraw& d, uint64_t block, T* out,
                                           bool past_caches) {
    for (int64_t h = 0; h < kBlocksPerGroup / 2; h += kBlocksAtOnce) {
      const PhiloxWords even = philox(d.stream, block + static_cast<uint64_t>(h));
      const PhiloxWords odd = philox(d.stream, block + static_cast<uint64_t>(h) + 8);
      V32 words[4];
      for (int w = 0; w < 4; ++w) words[w] = lanes32(even.word[w], odd.word[w]);
      How::make(d, words, out + 2 * h, past_caches);
    }
  }
};

/// A group of 32 elements from two 64-bit words a block.
template <class How>
struct Wide {
  using T = typename How::T;
  static constexpr int64_t kGroup = 32;
  [[gnu::always_inline]] static void group(const RandomDraw& d, uint64_t block, T* out,
                                           bool past_caches) {
    for (int64_t h = 0; h < kBlocksPerGroup; h += kBlocksAtOnce) {
      const PhiloxWords p = philox(d.stream, block + static_cast<uint64_t>(h));
      How::make(d, (p.word[0] & 0xffffffffu) | (p.word[1] << 32),
                (p.word[2] & 0xffffffffu) | (p.word[3] << 32), out + h, past_caches);
    }
  }
};

template <class Group>
void fill(const RandomDraw& d, int64_t begin, int64_t end, void* raw_out) {
  using T = typename Group::T;
  T* out = static_cast<T*>(raw_out);
  const auto block_of = [](int64_t element) {
    return static_cast<uint64_t>(element / Group::kGroup * kBlocksPerGroup);
  };
  int64_t i = begin;
  for (; i + Group::kGroup <= end; i += Group::kGroup) {
    Group::group(d, block_of(i), out + i, d.past_caches);
  }
  if (i < end) {
    alignas(64) T rest[Group::kGroup];
    Group::group(d, block_of(i), rest, false);
    __builtin_memcpy(out + i, rest, static_cast<size_t>(end - i) * sizeof(T));
  }
#if defined(__SSE2__)
  if (d.past_caches) _mm_sfence();
#endif
}

template <class T_>
struct NormalFloat {
  using T = T_;
  [[gnu::always_inline]] static void make(const RandomDraw& d, const V32* words, T* out,
                                          bool past_caches) {
    const float mean = static_cast<float>(d.first), deviation = static_cast<float>(d.second);
    for (int pair = 0; pair < 2; ++pair) {
      F32 first, second;
      box_muller<float>(open_uniform(words[2 * pair]), words[2 * pair + 1], first, second);
      put_floats(first * deviation + mean, out + 32 * pair, past_caches);
      put_floats(second * deviation + mean, out + 32 * pair + 16, past_caches);
    }
  }
};

struct NormalDouble {
  using T = double;
  [[gnu::always_inline]] static void make(const RandomDraw& d, V64 a, V64 b, T* out,
                                          bool past_caches) {
    F64 first, second;
    box_muller<double>(half_open_uniform(a) + 0x1p-53, b, first, second);
    put(first * d.second + d.first, out, past_caches);
    put(second * d.second + d.first, out + 16, past_caches);
  }
};

template <class T_>
struct TruncatedFloat {
  using T = T_;
  [[gnu::always_inline]] static void make(const RandomDraw& d, const V32* words, T* out,
                                          bool past_caches) {
    const float mean = static_cast<float>(d.first), deviation = static_cast<float>(d.second);
    for (int w = 0; w < 4; ++w) {
      // Symmetric around zero: the bits as a signed fraction.
      const F32 y = __builtin_convertvector(bits_as<Vec<int32_t>>(words[w]), F32) *
                    static_cast<float>(kTwoSigmas * 0x1p-31);
      F32 z = central_normal_quantile(y);
      z = z > kBelowTwo ? broadcast(kBelowTwo) : z;
      z = z < -kBelowTwo ? broadcast(-kBelowTwo) : z;
      put_floats(z * deviation + mean, out + 16 * w, past_caches);
    }
  }
};

struct TruncatedDouble {
  using T = double;
  /// The float's answer, then one step of Halley's method on the error function.
  static double quantile(double y) {
    F32 guess = broadcast(static_cast<float>(y));
    guess = central_normal_quantile(guess);
    const double x = static_cast<double>(guess[0]) * 0.70710678118654752440;
    const double error = erf(x) - y;
    const double slope = 1.12837916709551257390 * exp(-x * x);
    const double step = error / slope;
    const double z = (x - step / (1 + x * step)) * 1.41421356237309504880;
    return z > 2 ? 2 : z < -2 ? -2 : z;
  }
  static void make(const RandomDraw& d, V64 a, V64 b, T* out, bool) {
    for (int part = 0; part < 2; ++part) {
      const F64 u = half_open_uniform(part ? b : a) + 0x1p-53;
      for (int64_t l = 0; l < kLanes<double>; ++l) {
        out[16 * part + l] = quantile((2 * u[l] - 1) * kTwoSigmas) * d.second + d.first;
      }
    }
  }
};

template <class T_>
struct UniformFloat {
  using T = T_;
  static constexpr int kBits = __is_same(T, Half) ? 11 : __is_same(T, BFloat16) ? 8 : 24;
  [[gnu::always_inline]] static void make(const RandomDraw& d, const V32* words, T* out,
                                          bool past_caches) {
    const float low = static_cast<float>(d.first), width = static_cast<float>(d.second);
    const float highest = static_cast<float>(d.highest);
    for (int w = 0; w < 4; ++w) {
      const F32 x = half_open_uniform<kBits>(words[w]) * width + low;
      put_floats(x > highest ? broadcast(highest) : x, out + 16 * w, past_caches);
    }
  }
};

struct UniformDouble {
  using T = double;
  [[gnu::always_inline]] static void make(const RandomDraw& d, V64 a, V64 b, T* out,
                                          bool past_caches) {
    for (int part = 0; part < 2; ++part) {
      const F64 x = half_open_uniform(part ? b : a) * d.second + d.first;
      put(x > d.highest ? broadcast(d.highest) : x, out + 16 * part, past_caches);
    }
  }
};

/// low + bits * width / 2^32: each value within one part in 2^32 / width of equally likely.
template <class T_>
struct Integers32 {
  using T = T_;
  [[gnu::always_inline]] static void make(const RandomDraw& d, const V32* words, T* out, bool) {
    const uint32_t low = static_cast<uint32_t>(d.low);
    for (int w = 0; w < 4; ++w) {
      for (int64_t l = 0; l < kLanes<uint32_t>; ++l) {
        const uint32_t bits = words[w][l];
        const uint32_t scaled = d.width ? static_cast<uint32_t>((bits * d.width) >> 32) : bits;
        out[16 * w + l] = static_cast<T>(low + scaled);
      }
    }
  }
};

struct Integers64 {
  using T = uint64_t;
  [[gnu::always_inline]] static void make(const RandomDraw& d, V64 a, V64 b, T* out, bool) {
    for (int part = 0; part < 2; ++part) {
      for (int64_t l = 0; l < kLanes<uint64_t>; ++l) {
        const uint64_t bits = part ? b[l] : a[l];
        __extension__ using Product = unsigned __int128;
        const uint64_t scaled =
            d.width ? static_cast<uint64_t>((static_cast<Product>(bits) * d.width) >> 64) : bits;
        out[16 * part + l] = d.low + scaled;
      }
    }
  }
};

constexpr RandomTable make_table() {
  RandomTable t{};
  const auto slot = [&](RandomLoop loop, DType d) -> RandomFill& {
    return t.fill[static_cast<int>(loop)][static_cast<int>(d)];
  };
  slot(RandomLoop::normal, DType::float16) = fill<Narrow<NormalFloat<Half>>>;
  slot(RandomLoop::normal, DType::bfloat16) = fill<Narrow<NormalFloat<BFloat16>>>;
  slot(RandomLoop::normal, DType::float32) = fill<Narrow<NormalFloat<float>>>;
  slot(RandomLoop::normal, DType::float64) = fill<Wide<NormalDouble>>;
  slot(RandomLoop::truncated_normal, DType::float16) = fill<Narrow<TruncatedFloat<Half>>>;
  slot(RandomLoop::truncated_normal, DType::bfloat16) = fill<Narrow<TruncatedFloat<BFloat16>>>;
  slot(RandomLoop::truncated_normal, DType::float32) = fill<Narrow<TruncatedFloat<float>>>;
  slot(RandomLoop::truncated_normal, DType::float64) = fill<Wide<TruncatedDouble>>;
  slot(RandomLoop::uniform, DType::float16) = fill<Narrow<UniformFloat<Half>>>;
  slot(RandomLoop::uniform, DType::bfloat16) = fill<Narrow<UniformFloat<BFloat16>>>;
  slot(RandomLoop::uniform, DType::float32) = fill<Narrow<UniformFloat<float>>>;
  slot(RandomLoop::uniform, DType::float64) = fill<Wide<UniformDouble>>;
  for (const DType d : {DType::int8, DType::uint8}) {
    slot(RandomLoop::integers, d) = fill<Narrow<Integers32<uint8_t>>>;
  }
  for (const DType d : {DType::int16, DType::uint16}) {
    slot(RandomLoop::integers, d) = fill<Narrow<Integers32<uint16_t>>>;
  }
  for (const DType d : {DType::int32, DType::uint32}) {
    slot(RandomLoop::integers, d) = fill<Narrow<Integers32<uint32_t>>>;
  }
  for (const DType d : {DType::int64, DType::uint64}) {
    slot(RandomLoop::integers, d) = fill<Wide<Integers64>>;
  }
  return t;
}

}  // namespace

extern constinit const RandomTable random_table = make_table();

}  // namespace tidemark::cpu::TIDEMARK_ISA
