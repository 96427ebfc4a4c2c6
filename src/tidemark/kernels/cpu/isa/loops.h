// Writing elementwise loops: one line an op, compiled once per instruction-set level.
//
//   TIDEMARK_UNARY(square, Numeric, x * x)
//   TIDEMARK_BINARY(add, Numeric, x + y)
//   TIDEMARK_LOOPS(arithmetic, square, add);      // the table the registry reads
//
// The expression sees x (and y, z), their type T, and p: the op's attributes as numbers.
#pragma once

#include <type_traits>

#include "tidemark/kernels/cpu/elementwise/loop.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tidemark::cpu::TIDEMARK_ISA {

template <class... T>
struct Types {
  static constexpr int count = sizeof...(T);
};

using Ints = Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
using Floats = Types<float, double>;
using Real =
    Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, float, double>;
using RealAndBool = Types<bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                          uint64_t, float, double>;
using Bool = Types<bool>;

/// Integers wrap around; signed overflow would be undefined, so they compute unsigned.
template <class T>
struct WrapOf {
  using type = T;
};
template <>
struct WrapOf<int8_t> {
  using type = uint32_t;
};
template <>
struct WrapOf<uint8_t> {
  using type = uint32_t;
};
template <>
struct WrapOf<int16_t> {
  using type = uint32_t;
};
template <>
struct WrapOf<uint16_t> {
  using type = uint32_t;
};
template <>
struct WrapOf<int32_t> {
  using type = uint32_t;
};
template <>
struct WrapOf<int64_t> {
  using type = uint64_t;
};
template <class T>
using Wrap = typename WrapOf<T>::type;

template <class T>
inline constexpr bool is_float = false;
template <>
inline constexpr bool is_float<float> = true;
template <>
inline constexpr bool is_float<double> = true;
template <class T>
inline constexpr bool is_signed_int = !is_float<T> && T(-1) < T(0);

/// Rounds the count down where the loop only sees whole vectors, so that no scalar tail is made.
template <class Op>
[[gnu::always_inline]] inline int64_t count_of(int64_t n) {
  return Op::whole_vectors ? n & ~(kVectorRun - 1) : n;
}

template <class Op, class T>
LoopStatus unary_loop(void* out, const void* const* in, int64_t n, const LoopParams& params) {
  using R = decltype(Op::of(T(), LoopParams()));
  [[maybe_unused]] const LoopParams p = params;
  const T* x = static_cast<const T*>(in[0]);
  R* y = static_cast<R*>(out);
  const int64_t count = count_of<Op>(n);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) y[i] = Op::of(x[i], p);
  return LoopStatus::ok;
}

template <class Op, class T>
LoopStatus binary_loop(void* out, const void* const* in, int64_t n, const LoopParams& params) {
  using R = decltype(Op::of(T(), T(), LoopParams()));
  [[maybe_unused]] const LoopParams p = params;
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  R* y = static_cast<R*>(out);
  const int64_t count = count_of<Op>(n);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) y[i] = Op::of(a[i], b[i], p);
  return LoopStatus::ok;
}

template <class Op, class T>
LoopStatus ternary_loop(void* out, const void* const* in, int64_t n, const LoopParams& params) {
  using R = decltype(Op::of(T(), T(), T(), LoopParams()));
  [[maybe_unused]] const LoopParams p = params;
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  const T* c = static_cast<const T*>(in[2]);
  R* y = static_cast<R*>(out);
  const int64_t count = count_of<Op>(n);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) y[i] = Op::of(a[i], b[i], c[i], p);
  return LoopStatus::ok;
}

/// A cache line of results, gathered in registers and written past the caches.
template <class T>
[[gnu::always_inline]] inline void stream_line(T* out, const T* line) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(out), _mm512_load_si512(line));
#elif defined(__AVX__)
  const auto* from = reinterpret_cast<const __m256i*>(line);
  auto* to = reinterpret_cast<__m256i*>(out);
  for (int i = 0; i < 2; ++i) _mm256_stream_si256(to + i, _mm256_load_si256(from + i));
#elif defined(__SSE2__)
  const auto* from = reinterpret_cast<const __m128i*>(line);
  auto* to = reinterpret_cast<__m128i*>(out);
  for (int i = 0; i < 4; ++i) _mm_stream_si128(to + i, _mm_load_si128(from + i));
#else
  __builtin_memcpy(out, line, 64);
#endif
}

/// y[i] = of(i) for n elements, lines of them past the caches; what fills no line the usual way,
/// which loops of whole vectors never have left.
template <bool whole_vectors, class T, class Of>
[[gnu::always_inline]] inline void stream_elements(T* y, int64_t n, Of of) {
  constexpr int64_t kLine = 64 / sizeof(T);
  int64_t i = 0;
  for (; i + kLine <= n; i += kLine) {
    alignas(64) T line[kLine];
#pragma GCC unroll 1  // unrolled early, it would not become one vector operation
    for (int64_t k = 0; k < kLine; ++k) line[k] = of(i + k);
    stream_line(y + i, line);
  }
  if constexpr (!whole_vectors) {
    for (; i < n; ++i) y[i] = of(i);
  }
}

template <class Op, class T>
LoopStatus unary_stream(void* out, const void* const* in, int64_t n, const LoopParams& params) {
  [[maybe_unused]] const LoopParams p = params;
  const T* x = static_cast<const T*>(in[0]);
  stream_elements<Op::whole_vectors>(
      static_cast<T*>(out),
      n, [&](int64_t i) __attribute__((always_inline)) { return Op::of(x[i], p); });
  return LoopStatus::ok;
}

template <class Op, class T>
LoopStatus binary_stream(void* out, const void* const* in, int64_t n, const LoopParams& params) {
  [[maybe_unused]] const LoopParams p = params;
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  stream_elements<Op::whole_vectors>(
      static_cast<T*>(out),
      n, [&](int64_t i) __attribute__((always_inline)) { return Op::of(a[i], b[i], p); });
  return LoopStatus::ok;
}

/// True iff the results are floats like the inputs.
template <class T, class R>
inline constexpr bool can_stream = is_float<T>&& std::is_same_v<T, R>;

template <class Op, class T>
consteval ElementwiseLoop row() {
  ElementwiseLoop loop;
  loop.op = Op::name;
  loop.in = dtype_of<T>();
  loop.arity = Op::arity;
  loop.whole_vectors = Op::whole_vectors;
  loop.heavy = Op::heavy;
  if constexpr (Op::arity == 1) {
    using R = decltype(Op::of(T(), LoopParams()));
    loop.out = dtype_of<R>();
    loop.run = &unary_loop<Op, T>;
    if constexpr (can_stream<T, R>) loop.stream = &unary_stream<Op, T>;
  } else if constexpr (Op::arity == 2) {
    using R = decltype(Op::of(T(), T(), LoopParams()));
    loop.out = dtype_of<R>();
    loop.run = &binary_loop<Op, T>;
    if constexpr (can_stream<T, R>) loop.stream = &binary_stream<Op, T>;
  } else {
    loop.out = dtype_of<decltype(Op::of(T(), T(), T(), LoopParams()))>();
    loop.run = &ternary_loop<Op, T>;
  }
  // Ops whose loop is not one expression bring their own.
  if constexpr (requires { Op::template loop<T>; }) {
    loop.run = &Op::template loop<T>;
    loop.stream = nullptr;
    if constexpr (requires { Op::template stream<T>; }) loop.stream = &Op::template stream<T>;
  }
  return loop;
}

template <class... Op>
struct Rows {
  static constexpr int count = (Op::Over::count + ...);
  ElementwiseLoop loops[count];

  consteval Rows() {
    int next = 0;
    (append<Op>(typename Op::Over(), next), ...);
  }
  template <class Op1, class... T>
  consteval void append(Types<T...>, int& next) {
    ((loops[next++] = row<Op1, T>()), ...);
  }
};

#define TIDEMARK_LOOP_(op, over, n, vectors, costly, arguments, ...)         \
  struct op##_op {                                                           \
    using Over = over;                                                       \
    static constexpr const char* name = #op;                                 \
    static constexpr uint8_t arity = n;                                      \
    static constexpr bool whole_vectors = vectors, heavy = costly;           \
    template <class T>                                                       \
    [[gnu::always_inline]] static inline auto of arguments->decltype(auto) { \
      return __VA_ARGS__;                                                    \
    }                                                                        \
  };
#define TIDEMARK_X (T x, [[maybe_unused]] LoopParams p)
#define TIDEMARK_XY (T x, T y, [[maybe_unused]] LoopParams p)
#define TIDEMARK_XYZ (T x, T y, T z, [[maybe_unused]] LoopParams p)

/// Exact ops (one rounding, or none), bound by memory. The result has the inputs' type.
#define TIDEMARK_UNARY(op, over, ...) \
  TIDEMARK_LOOP_(op, over, 1, false, false, TIDEMARK_X, static_cast<T>(__VA_ARGS__))
#define TIDEMARK_BINARY(op, over, ...) \
  TIDEMARK_LOOP_(op, over, 2, false, false, TIDEMARK_XY, static_cast<T>(__VA_ARGS__))
#define TIDEMARK_TERNARY(op, over, ...) \
  TIDEMARK_LOOP_(op, over, 3, false, false, TIDEMARK_XYZ, static_cast<T>(__VA_ARGS__))
/// The result is a bool.
#define TIDEMARK_UNARY_TEST(op, over, ...) \
  TIDEMARK_LOOP_(op, over, 1, false, false, TIDEMARK_X, static_cast<bool>(__VA_ARGS__))
#define TIDEMARK_BINARY_TEST(op, over, ...) \
  TIDEMARK_LOOP_(op, over, 2, false, false, TIDEMARK_XY, static_cast<bool>(__VA_ARGS__))
/// Ops that call vector functions: only ever run over whole vectors.
#define TIDEMARK_UNARY_MATH(op, ...) \
  TIDEMARK_LOOP_(op, Floats, 1, true, true, TIDEMARK_X, static_cast<T>(__VA_ARGS__))
#define TIDEMARK_BINARY_MATH(op, ...) \
  TIDEMARK_LOOP_(op, Floats, 2, true, true, TIDEMARK_XY, static_cast<T>(__VA_ARGS__))

/// Exports the loops as the table `family`.
#define TIDEMARK_LOOPS(family, ...)                   \
  static constexpr Rows<__VA_ARGS__> family##_rows{}; \
  extern constinit const LoopTable family;            \
  constinit const LoopTable family = {family##_rows.loops, Rows<__VA_ARGS__>::count}

}  // namespace tidemark::cpu::TIDEMARK_ISA
