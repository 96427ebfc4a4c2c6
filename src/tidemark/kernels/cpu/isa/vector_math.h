// libm's functions in a form the compiler replaces by their vector variants.
//
// The declarations repeat libm's and add that a vector variant exists (libmvec on x86-64). Loops
// over them run whole vectors only: the scalar function may differ in the last bit.
#pragma once

#include <cmath>

#if defined(__x86_64__) && defined(__linux__)
#define TIDEMARK_VECTOR_FUNCTION __attribute__((simd("notinbranch"), const))
#else
#define TIDEMARK_VECTOR_FUNCTION __attribute__((const))
#endif

#define TIDEMARK_VECTOR_MATH1(name)                                         \
  extern "C" {                                                              \
  TIDEMARK_VECTOR_FUNCTION float name##f(float) noexcept;                   \
  TIDEMARK_VECTOR_FUNCTION double name(double) noexcept;                    \
  }                                                                         \
  namespace tidemark::cpu::TIDEMARK_ISA::math {                             \
  [[gnu::always_inline]] inline float name(float x) { return name##f(x); }  \
  [[gnu::always_inline]] inline double name(double x) { return ::name(x); } \
  }
#define TIDEMARK_VECTOR_MATH2(name)                                                      \
  extern "C" {                                                                           \
  TIDEMARK_VECTOR_FUNCTION float name##f(float, float) noexcept;                         \
  TIDEMARK_VECTOR_FUNCTION double name(double, double) noexcept;                         \
  }                                                                                      \
  namespace tidemark::cpu::TIDEMARK_ISA::math {                                          \
  [[gnu::always_inline]] inline float name(float x, float y) { return name##f(x, y); }   \
  [[gnu::always_inline]] inline double name(double x, double y) { return ::name(x, y); } \
  }

TIDEMARK_VECTOR_MATH1(exp)
TIDEMARK_VECTOR_MATH1(expm1)
TIDEMARK_VECTOR_MATH1(log)
TIDEMARK_VECTOR_MATH1(log1p)
TIDEMARK_VECTOR_MATH1(sin)
TIDEMARK_VECTOR_MATH1(cos)
TIDEMARK_VECTOR_MATH1(tan)
TIDEMARK_VECTOR_MATH1(asin)
TIDEMARK_VECTOR_MATH1(acos)
TIDEMARK_VECTOR_MATH1(atan)
TIDEMARK_VECTOR_MATH1(sinh)
TIDEMARK_VECTOR_MATH1(cosh)
TIDEMARK_VECTOR_MATH1(tanh)
TIDEMARK_VECTOR_MATH1(asinh)
TIDEMARK_VECTOR_MATH1(acosh)
TIDEMARK_VECTOR_MATH1(atanh)
TIDEMARK_VECTOR_MATH1(erf)
TIDEMARK_VECTOR_MATH1(erfc)
TIDEMARK_VECTOR_MATH2(pow)
TIDEMARK_VECTOR_MATH2(atan2)

#undef TIDEMARK_VECTOR_MATH1
#undef TIDEMARK_VECTOR_MATH2
