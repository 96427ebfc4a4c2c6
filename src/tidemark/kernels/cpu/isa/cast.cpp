// Conversions between every two dtypes but the half types, which the driver converts to float.
//
// A number too large for an integer becomes the nearest it can hold, NaN becomes 0. A bool is
// whether the number differs from 0 (NaN does). A complex number loses its imaginary part.

#include "tidemark/kernels/cpu/elementwise/cast.h"
#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

template <class R>
struct Complex {
  R re, im;
};

template <class T>
inline constexpr bool is_complex_type = false;
template <class R>
inline constexpr bool is_complex_type<Complex<R>> = true;

template <class To>
struct Limits {  // of an integer type
  static constexpr int bits = static_cast<int>(sizeof(To) * 8);
  static constexpr To lowest = To(-1) < To(0) ? To(uint64_t(1) << (bits - 1)) : To(0);
  static constexpr To highest = To(~lowest);
  /// The smallest float above `highest`: a power of two, so exact.
  static constexpr double above =
      To(-1) < To(0) ? double(uint64_t(1) << (bits - 1)) : 2.0 * double(uint64_t(1) << (bits - 1));
};

template <class To, class From>
[[gnu::always_inline]] inline To convert(From x) {
  if constexpr (is_complex_type<From>) {
    if constexpr (is_complex_type<To>) {
      return {static_cast<decltype(To::re)>(x.re), static_cast<decltype(To::re)>(x.im)};
    } else {
      return convert<To>(x.re);
    }
  } else if constexpr (is_complex_type<To>) {
    return {convert<decltype(To::re)>(x), 0};
  } else if constexpr (__is_same(To, bool)) {
    return x != 0;
  } else if constexpr (is_float<From> && !is_float<To>) {
    constexpr From lowest = static_cast<From>(Limits<To>::lowest);
    constexpr From above = static_cast<From>(Limits<To>::above);
    const bool inside = (x >= lowest) & (x < above);
    const To inexact = static_cast<To>(inside ? x : From(0));
    const To clamped = x >= above ? Limits<To>::highest : x < lowest ? Limits<To>::lowest : To(0);
    return inside ? inexact : clamped;
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
LoopStatus cast_loop(void* out, const void* const* in, int64_t n, const LoopParams&) {
  const From* x = static_cast<const From*>(in[0]);
  To* y = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = convert<To>(x[i]);
  return LoopStatus::ok;
}

struct Builder {
  CastTable table;

  template <class To, class From>
  consteval void add(DType to, DType from) {
    table.loops[static_cast<int>(from)][static_cast<int>(to)] = &cast_loop<To, From>;
  }
  template <class From>
  consteval void add_from(DType from) {
    add<bool, From>(DType::bool_, from);
    add<int8_t, From>(DType::int8, from);
    add<uint8_t, From>(DType::uint8, from);
    add<int16_t, From>(DType::int16, from);
    add<uint16_t, From>(DType::uint16, from);
    add<int32_t, From>(DType::int32, from);
    add<uint32_t, From>(DType::uint32, from);
    add<int64_t, From>(DType::int64, from);
    add<uint64_t, From>(DType::uint64, from);
    add<float, From>(DType::float32, from);
    add<double, From>(DType::float64, from);
    add<Complex<float>, From>(DType::complex64, from);
    add<Complex<double>, From>(DType::complex128, from);
  }
  consteval Builder() : table{} {
    add_from<bool>(DType::bool_);
    add_from<int8_t>(DType::int8);
    add_from<uint8_t>(DType::uint8);
    add_from<int16_t>(DType::int16);
    add_from<uint16_t>(DType::uint16);
    add_from<int32_t>(DType::int32);
    add_from<uint32_t>(DType::uint32);
    add_from<int64_t>(DType::int64);
    add_from<uint64_t>(DType::uint64);
    add_from<float>(DType::float32);
    add_from<double>(DType::float64);
    add_from<Complex<float>>(DType::complex64);
    add_from<Complex<double>>(DType::complex128);
  }
};

}  // namespace

extern constinit const CastTable casts;
constinit const CastTable casts = Builder().table;

}  // namespace tidemark::cpu::TIDEMARK_ISA
