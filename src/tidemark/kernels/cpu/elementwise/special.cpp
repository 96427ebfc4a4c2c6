// Special functions, computed in double precision one element at a time.

#include <math.h>

#include <cmath>

#define TIDEMARK_ISA special_loops  // ours alone, for every CPU
#include "tidemark/kernels/cpu/isa/loops.h"
#include "tidemark/kernels/special_functions.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

using namespace special_functions;

template <class T>
T floored_remainder(T x, T y) {
  const T r = std::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

}  // namespace

#define TIDEMARK_SPECIAL(op, ...) \
  TIDEMARK_LOOP_(op, Floats, 1, false, true, TIDEMARK_X, static_cast<T>(__VA_ARGS__))
#define TIDEMARK_SPECIAL2(op, ...) \
  TIDEMARK_LOOP_(op, Floats, 2, false, true, TIDEMARK_XY, static_cast<T>(__VA_ARGS__))

TIDEMARK_SPECIAL(erfinv, inverse_erf(x))
TIDEMARK_SPECIAL(ndtri, normal_quantile(x))
TIDEMARK_SPECIAL(lgamma, log_gamma(x))
TIDEMARK_SPECIAL(digamma, digamma_of(x))
TIDEMARK_SPECIAL(trigamma, trigamma_of(x))
TIDEMARK_SPECIAL(bessel_i0e, scaled_bessel_i(0, std::abs(x)))
TIDEMARK_SPECIAL(bessel_i1e, std::copysign(scaled_bessel_i(1, std::abs(x)), x))
TIDEMARK_SPECIAL2(nextafter, std::nextafter(x, y))
TIDEMARK_SPECIAL2(floormod, floored_remainder(x, y))
TIDEMARK_SPECIAL2(truncatemod, std::fmod(x, y))

TIDEMARK_LOOPS(loops, erfinv_op, ndtri_op, lgamma_op, digamma_op, trigamma_op, bessel_i0e_op,
               bessel_i1e_op, nextafter_op, floormod_op, truncatemod_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
