// Loops over complex numbers: plain code for every CPU.

#include <cmath>
#include <complex>

#define TIDEMARK_ISA complex_loops  // ours alone, for every CPU
#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

using Complex = Types<std::complex<float>, std::complex<double>>;

TIDEMARK_BINARY(add, Complex, x + y)
TIDEMARK_BINARY(subtract, Complex, x - y)
TIDEMARK_BINARY(multiply, Complex, x* y)
TIDEMARK_BINARY(truediv, Complex, x / y)
TIDEMARK_BINARY(squared_difference, Complex, std::norm(x - y))
TIDEMARK_BINARY(divide_no_nan, Complex, y == T(0) ? T(0) : x / y)
TIDEMARK_BINARY(multiply_no_nan, Complex, y == T(0) ? T(0) : x * y)
TIDEMARK_BINARY(xdivy, Complex, x == T(0) ? T(0) : x / y)
TIDEMARK_BINARY(xlogy, Complex, x == T(0) ? T(0) : x * std::log(y))
TIDEMARK_BINARY(xlog1py, Complex, x == T(0) ? T(0) : x * std::log(T(1) + y))
TIDEMARK_BINARY(pow, Complex, y == T(0) ? T(1) : std::pow(x, y))
TIDEMARK_BINARY_TEST(equal, Complex, x == y)
TIDEMARK_BINARY_TEST(not_equal, Complex, x != y)

TIDEMARK_UNARY(negative, Complex, -x)
TIDEMARK_UNARY(square, Complex, x* x)
TIDEMARK_UNARY(sqrt, Complex, std::sqrt(x))
TIDEMARK_UNARY(rsqrt, Complex, T(1) / std::sqrt(x))
TIDEMARK_UNARY(reciprocal, Complex, T(1) / x)
TIDEMARK_UNARY(sign, Complex, x == T(0) ? T(0) : x / std::abs(x))
TIDEMARK_UNARY(exp, Complex, std::exp(x))
TIDEMARK_UNARY(log, Complex, std::log(x))
TIDEMARK_UNARY(sin, Complex, std::sin(x))
TIDEMARK_UNARY(cos, Complex, std::cos(x))
TIDEMARK_UNARY(tan, Complex, std::tan(x))
TIDEMARK_UNARY(asin, Complex, std::asin(x))
TIDEMARK_UNARY(acos, Complex, std::acos(x))
TIDEMARK_UNARY(atan, Complex, std::atan(x))
TIDEMARK_UNARY(sinh, Complex, std::sinh(x))
TIDEMARK_UNARY(cosh, Complex, std::cosh(x))
TIDEMARK_UNARY(tanh, Complex, std::tanh(x))
TIDEMARK_UNARY(asinh, Complex, std::asinh(x))
TIDEMARK_UNARY(acosh, Complex, std::acosh(x))
TIDEMARK_UNARY(atanh, Complex, std::atanh(x))
TIDEMARK_UNARY(sigmoid, Complex, T(1) / (T(1) + std::exp(-x)))
TIDEMARK_UNARY(conj, Complex, std::conj(x))

/// e^x - 1, exact near 0: the real part as expm1(a) cos b - 2 sin^2(b/2).
template <class T>
T exponential_less_one(T x) {
  using R = typename T::value_type;
  const R half = std::sin(x.imag() / 2);
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half,
          std::exp(x.real()) * std::sin(x.imag())};
}
/// log(1 + x), exact near 0: the real part from |1 + x|^2 - 1 = a (2 + a) + b^2.
template <class T>
T logarithm_of_one_more(T x) {
  using R = typename T::value_type;
  const R a = x.real(), b = x.imag();
  if (std::abs(a) > R(0.5) || std::abs(b) > R(0.5)) return std::log(T(1) + x);
  return {std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a)};
}
TIDEMARK_UNARY(expm1, Complex, exponential_less_one(x))
TIDEMARK_UNARY(log1p, Complex, logarithm_of_one_more(x))

// The result is a real number.
#define TIDEMARK_UNARY_PART(op, ...) \
  TIDEMARK_LOOP_(op, Complex, 1, false, false, TIDEMARK_X, __VA_ARGS__)
TIDEMARK_UNARY_PART(abs, std::abs(x))
TIDEMARK_UNARY_PART(real, typename T::value_type(x.real()))
TIDEMARK_UNARY_PART(imag, typename T::value_type(x.imag()))
#undef TIDEMARK_UNARY_PART

// Two real numbers make a complex one.
TIDEMARK_LOOP_(complex, Floats, 2, false, false, TIDEMARK_XY, std::complex<T>(x, y))

// Real numbers have an angle too.
template <class R>
R angle_of(std::complex<R> x) {
  return std::arg(x);
}
template <class R>
R angle_of(R x) {
  return x < 0 ? R(M_PI) : R(0);
}
using RealAndComplex = Types<float, double, std::complex<float>, std::complex<double>>;
TIDEMARK_LOOP_(angle, RealAndComplex, 1, false, false, TIDEMARK_X, angle_of(x))

TIDEMARK_LOOPS(loops, add_op, subtract_op, multiply_op, truediv_op, squared_difference_op,
               divide_no_nan_op, multiply_no_nan_op, xdivy_op, xlogy_op, xlog1py_op, pow_op,
               equal_op, not_equal_op, negative_op, square_op, sqrt_op, rsqrt_op, reciprocal_op,
               sign_op, exp_op, log_op, sin_op, cos_op, tan_op, asin_op, acos_op, atan_op, sinh_op,
               cosh_op, tanh_op, asinh_op, acosh_op, atanh_op, sigmoid_op, conj_op, expm1_op,
               log1p_op, abs_op, angle_op, real_op, imag_op, complex_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
