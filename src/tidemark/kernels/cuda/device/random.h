// Random numbers: those of the CPU (kernels/cpu/isa/random.cpp), element by element. Products and
// sums are one instruction, as on processors that have it, wherever those of the CPU are.

namespace tm {

namespace math {

inline float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
inline double fma(double x, double y, double z) { return ::fma(x, y, z); }

}  // namespace math

struct Draw {
  uint64 key, counter_low, counter_high;
  double first, second, highest;
  uint64 low, width;
};

/// Philox 4x32-10: the words of one block.
struct PhiloxWords {
  uint32 word[4];
};
inline PhiloxWords philox(const Draw& d, uint64 block) {
  const uint64 low = d.counter_low + block;
  uint32 c0 = static_cast<uint32>(low), c1 = static_cast<uint32>(low >> 32);
  uint32 c2 = static_cast<uint32>(d.counter_high), c3 = static_cast<uint32>(d.counter_high >> 32);
  uint32 k0 = static_cast<uint32>(d.key), k1 = static_cast<uint32>(d.key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64 p0 = static_cast<uint64>(c0) * 0xd2511f53u;
    const uint64 p1 = static_cast<uint64>(c2) * 0xcd9e8d57u;
    c0 = static_cast<uint32>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32>(p1);
    c2 = static_cast<uint32>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32>(p0);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return {{c0, c1, c2, c3}};
}

constexpr int64 kGroupBlocks = 16;

/// Elements of up to 32 bits come in groups of 64: a word of each of 16 blocks, four times.
struct NarrowPlace {
  uint64 block;
  int word;
  explicit NarrowPlace(int64 i)
      : block(static_cast<uint64>(i / 64 * kGroupBlocks + i % 16 / 2 + i % 2 * 8)),
        word(static_cast<int>(i % 64 / 16)) {}
};
/// Those of 64 bits in groups of 32: two words of each of 16 blocks, twice.
struct WidePlace {
  uint64 block;
  int part;
  explicit WidePlace(int64 i)
      : block(static_cast<uint64>(i / 32 * kGroupBlocks + i % 16)),
        part(static_cast<int>(i % 32 / 16)) {}
};
inline uint64 wide_word(const PhiloxWords& words, int part) {
  return words.word[2 * part] | static_cast<uint64>(words.word[2 * part + 1]) << 32;
}

union Bits64 {
  double number;
  uint64 bits;
};
inline double from_bits(uint64 bits) {
  Bits64 both;
  both.bits = bits;
  return both.number;
}
inline uint64 bits_of(double x) {
  Bits64 both;
  both.number = x;
  return both.bits;
}

/// In [0, 1), 52 bits.
inline double half_open(uint64 bits) { return from_bits(bits >> 12 | 0x3ff0000000000000ull) - 1.0; }

template <class A>
struct Parts;
template <>
struct Parts<float> {
  typedef uint32 U;
  typedef int32 I;
  static constexpr int kMantissa = 23, kTerms = 4;
  static constexpr int32 kHalfRoot = 0x3f3504f3;
  static float scale() { return static_cast<float>(1.57079632679489661923 / 1073741824.0); }
  static float log_series(float z) {
    float p = math::fma(z, 1.f / 9, 1.f / 7);
    p = math::fma(p, z, 1.f / 5);
    return math::fma(p, z, 1.f / 3);
  }
};
template <>
struct Parts<double> {
  typedef uint64 U;
  typedef int64 I;
  static constexpr int kMantissa = 52, kTerms = 8;
  static constexpr int64 kHalfRoot = 0x3fe6a09e667f3bcdll;
  static double scale() { return 1.57079632679489661923 / 4611686018427387904.0; }
  static double log_series(double z) {
    double p = math::fma(z, 1. / 21, 1. / 19);
    p = math::fma(p, z, 1. / 17);
    p = math::fma(p, z, 1. / 15);
    p = math::fma(p, z, 1. / 13);
    p = math::fma(p, z, 1. / 11);
    p = math::fma(p, z, 1. / 9);
    p = math::fma(p, z, 1. / 7);
    p = math::fma(p, z, 1. / 5);
    return math::fma(p, z, 1. / 3);
  }
};

/// Of positive normal numbers.
template <class A>
A log_by_series(A x) {
  typedef typename Parts<A>::I I;
  const I bits = static_cast<I>(bits_of(x));
  const I exponent = (bits - Parts<A>::kHalfRoot) >> Parts<A>::kMantissa;
  typedef typename Parts<A>::U U;
  const A m = from_bits(static_cast<U>(bits) - (static_cast<U>(exponent) << Parts<A>::kMantissa));
  const A s = (m - A(1)) / (m + A(1)), z = s * s, twice = A(2) * s;
  const A of_mantissa = math::fma(twice * z, Parts<A>::log_series(z), twice);
  return math::fma(static_cast<A>(exponent), static_cast<A>(0.693147180559945309), of_mantissa);
}

/// Of a turn given as an unsigned fraction: `is_sine` or else the cosine.
template <class A>
A wave_of_turn(typename Parts<A>::U turn, bool is_sine) {
  typedef typename Parts<A>::U U;
  typedef typename Parts<A>::I I;
  constexpr int shift = sizeof(A) * 8 - 2;
  const U quadrant = (turn + (U(1) << (shift - 1))) >> shift;
  const A t = static_cast<A>(static_cast<I>(turn - (quadrant << shift))) * Parts<A>::scale();
  const A z = t * t;
  constexpr double sines[] = {
      -1. / 6,        1. / 120,        -1. / 5040,          1. / 362880,
      -1. / 39916800, 1. / 6227020800, -1. / 1307674368000, 1. / 355687428096000};
  constexpr double cosines[] = {
      -1. / 2,       1. / 24,        -1. / 720,         1. / 40320,
      -1. / 3628800, 1. / 479001600, -1. / 87178291200, 1. / 20922789888000};
  const bool takes_sine = is_sine == ((quadrant & 1) == 0);
  A p = static_cast<A>(takes_sine ? sines[Parts<A>::kTerms - 1] : cosines[Parts<A>::kTerms - 1]);
  for (int i = Parts<A>::kTerms - 2; i >= 0; --i) {
    p = math::fma(p, z, static_cast<A>(takes_sine ? sines[i] : cosines[i]));
  }
  const A wave = takes_sine ? math::fma(t * z, p, t) : math::fma(z, p, A(1));
  const bool is_negative = ((quadrant + (is_sine ? 0 : 1)) & 2) != 0;
  return is_negative ? -wave : wave;
}

/// One of the two numbers of a pair.
template <class A>
A box_muller(A uniform, typename Parts<A>::U turn, bool is_second) {
  const A minus_two_log = A(-2) * log_by_series(uniform);
  const A radius = math::sqrt(minus_two_log < A(0) ? A(0) : minus_two_log);
  return radius * wave_of_turn<A>(turn, is_second);
}

/// sqrt(2) times the inverse error function, where it is central.
inline float central_quantile(float y) {
  const float w = -log_by_series((1.f - y) * (1.f + y)) - 2.5f;
  float p = math::fma(w, 2.81022636e-08f, 3.43273939e-07f);
  p = math::fma(p, w, -3.5233877e-06f);
  p = math::fma(p, w, -4.39150654e-06f);
  p = math::fma(p, w, 0.00021858087f);
  p = math::fma(p, w, -0.00125372503f);
  p = math::fma(p, w, -0.00417768164f);
  p = math::fma(p, w, 0.246640727f);
  p = math::fma(p, w, 1.50140941f);
  return p * y * 1.41421356f;
}

constexpr double kTwoSigmas = 0.95449973610364158560;

// --- Distributions: the element numbered i
// --------------------------------------------------------

struct Normal {
  static float narrow(const Draw& d, int64 i, int) {
    const NarrowPlace place(i);
    const PhiloxWords words = philox(d, place.block);
    const int pair = place.word / 2 * 2;
    const float uniform = (static_cast<float>(words.word[pair]) + 0.5f) * 2.3283064365386963e-10f;
    const float z = box_muller<float>(uniform, words.word[pair + 1], place.word % 2 == 1);
    return math::fma(z, static_cast<float>(d.second), static_cast<float>(d.first));
  }
  static double wide(const Draw& d, int64 i) {
    const WidePlace place(i);
    const PhiloxWords words = philox(d, place.block);
    const double uniform = half_open(wide_word(words, 0)) + 1.1102230246251565e-16;
    return math::fma(box_muller<double>(uniform, wide_word(words, 1), place.part == 1), d.second,
                     d.first);
  }
};

struct TruncatedNormal {
  static float narrow(const Draw& d, int64 i, int) {
    const NarrowPlace place(i);
    const int32 bits = static_cast<int32>(philox(d, place.block).word[place.word]);
    constexpr float below_two = 1.99999988f;
    float z =
        central_quantile(static_cast<float>(bits) * static_cast<float>(kTwoSigmas / 2147483648.0));
    z = z > below_two ? below_two : z;
    z = z < -below_two ? -below_two : z;
    return math::fma(z, static_cast<float>(d.second), static_cast<float>(d.first));
  }
  static double wide(const Draw& d, int64 i) {
    const WidePlace place(i);
    const double u = half_open(wide_word(philox(d, place.block), place.part));
    const double y = (2 * (u + 1.1102230246251565e-16) - 1) * kTwoSigmas;
    const double x =
        static_cast<double>(central_quantile(static_cast<float>(y))) * 0.70710678118654752440;
    const double slope = 1.12837916709551257390 * math::exp(-x * x);
    const double step = (math::erf(x) - y) / slope;
    const double z = (x - step / (1 + x * step)) * 1.41421356237309504880;
    return math::fma(z > 2 ? 2. : z < -2 ? -2. : z, d.second, d.first);
  }
};

struct Uniform {
  /// `keep` bits, all of them exact.
  static float narrow(const Draw& d, int64 i, int keep) {
    const NarrowPlace place(i);
    const uint32 bits = philox(d, place.block).word[place.word] >> (32 - keep);
    const float u = static_cast<float>(bits) * (1.f / static_cast<float>(1 << keep));
    const float x = math::fma(u, static_cast<float>(d.second), static_cast<float>(d.first));
    const float highest = static_cast<float>(d.highest);
    return x > highest ? highest : x;
  }
  static double wide(const Draw& d, int64 i) {
    const WidePlace place(i);
    const double u = half_open(wide_word(philox(d, place.block), place.part));
    const double x = math::fma(u, d.second, d.first);
    return x > d.highest ? d.highest : x;
  }
};

/// How many bits of a uniform number a type holds.
template <class T>
struct UniformBits {
  static constexpr int value = 24;
};
template <>
struct UniformBits<Half> {
  static constexpr int value = 11;
};
template <>
struct UniformBits<BFloat16> {
  static constexpr int value = 8;
};

struct draw_arguments {
  void* out;
  int64 count;
  Draw draw;
};
template <class How, class T>
void draw_floats(const draw_arguments& a) {
  for_each(a.count, [&](int64 i) {
    if constexpr (Same<T, double>::value) {
      store(a.out, i, How::wide(a.draw, i), T());
    } else {
      store(a.out, i, How::narrow(a.draw, i, UniformBits<T>::value), T());
    }
  });
}

/// The upper half of a product of 64 bits.
inline uint64 upper_product(uint64 x, uint64 y) {
  const uint64 low_x = x & 0xffffffffu, high_x = x >> 32;
  const uint64 low_y = y & 0xffffffffu, high_y = y >> 32;
  const uint64 middle = high_x * low_y + (low_x * low_y >> 32);
  const uint64 other = low_x * high_y + (middle & 0xffffffffu);
  return high_x * high_y + (middle >> 32) + (other >> 32);
}

/// low + bits * width / 2^32, or 2^64; a width of 0 is the whole range.
template <class T>
void draw_integers(const draw_arguments& a) {
  for_each(a.count, [&](int64 i) {
    const Draw& d = a.draw;
    if constexpr (sizeof(T) == 8) {
      const WidePlace place(i);
      const uint64 bits = wide_word(philox(d, place.block), place.part);
      static_cast<T*>(a.out)[i] =
          static_cast<T>(d.low + (d.width ? upper_product(bits, d.width) : bits));
    } else {
      const NarrowPlace place(i);
      const uint32 bits = philox(d, place.block).word[place.word];
      const uint32 scaled = d.width ? static_cast<uint32>((bits * d.width) >> 32) : bits;
      static_cast<T*>(a.out)[i] = static_cast<T>(static_cast<uint32>(d.low) + scaled);
    }
  });
}

}  // namespace tm
