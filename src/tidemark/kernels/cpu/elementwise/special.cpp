// Special functions, computed in double precision one element at a time.

#include <cmath>
#include <limits>

#define TIDEMARK_ISA special_loops  // ours alone, for every CPU
#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Coefficients from the lowest power up.
template <size_t N>
double polynomial(const double (&c)[N], double x) {
  double sum = 0;
  for (size_t i = N; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

/// The normal quantile of 0.5 + q, where `tail` is 0.5 - |q| given exactly (Wichura's AS 241).
double normal_quantile(double q, double tail) {
  static constexpr double kCentre[2][8] = {
      {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
       1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
       3.3430575583588128105e+4, 2.5090809287301226727e+3},
      {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
       2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
       5.2264952788528545610e+3}};
  static constexpr double kMiddle[2][8] = {
      {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
       3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
       2.27238449892691845833e-2, 7.74545014278341407640e-4},
      {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
       1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
       1.05075007164441684324e-9}};
  static constexpr double kFar[2][8] = {
      {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
       2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
       2.71155556874348757815e-5, 2.01033439929228813265e-7},
      {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
       7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
       2.04426310338993978564e-15}};
  if (!(tail >= 0)) return kNaN;
  if (tail == 0) return std::copysign(kInfinity, q);
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kCentre[0], r) / polynomial(kCentre[1], r);
  }
  const double r = std::sqrt(-std::log(tail));
  const double z = r <= 5 ? polynomial(kMiddle[0], r - 1.6) / polynomial(kMiddle[1], r - 1.6)
                          : polynomial(kFar[0], r - 5) / polynomial(kFar[1], r - 5);
  return std::copysign(z, q);
}

double inverse_erf(double x) {
  return normal_quantile(x / 2, (1 - std::abs(x)) / 2) / std::sqrt(2.0);
}
double normal_quantile(double p) { return normal_quantile(p - 0.5, p < 0.5 ? p : 1 - p); }

double log_gamma(double x) {
  int sign;
  return lgamma_r(x, &sign);  // lgamma writes a global
}

/// The logarithmic derivative of gamma: upwards by psi(x) = psi(x + 1) - 1/x, then its series.
double digamma_of(double x) {
  if (std::isnan(x) || x == -kInfinity) return kNaN;
  if (x == kInfinity) return kInfinity;
  if (x <= 0) {
    if (x == std::floor(x)) return kNaN;  // a pole
    // cot(pi x) has period 1: the fraction keeps its accuracy far from 0.
    const double fraction = x - std::floor(x);
    return digamma_of(1 - x) - M_PI / std::tan(M_PI * fraction);
  }
  double result = 0;
  for (; x < 12; ++x) result -= 1 / x;
  static constexpr double kSeries[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                       1.0 / 132, -691.0 / 32760, 1.0 / 12};
  const double r = 1 / (x * x);
  return result + std::log(x) - 0.5 / x - r * polynomial(kSeries, r);
}

/// The derivative of digamma, likewise.
double trigamma_of(double x) {
  if (std::isnan(x) || x == -kInfinity) return kNaN;
  if (x <= 0) {
    const double fraction = x - std::floor(x);
    if (fraction == 0) return kInfinity;  // a pole
    const double s = std::sin(M_PI * fraction) / M_PI;
    return 1 / (s * s) - trigamma_of(1 - x);
  }
  double result = 0;
  for (; x < 15; ++x) result += 1 / (x * x);
  static constexpr double kBernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                          5.0 / 66, -691.0 / 2730, 7.0 / 6};
  const double r = 1 / (x * x);
  return result + 1 / x + r / 2 + polynomial(kBernoulli, r) * r / x;
}

/// e^-|x| I_n(x) for n = 0, 1 and x >= 0: its power series, all terms positive, or far out its
/// asymptotic one.
double scaled_bessel_i(int n, double x) {
  if (std::isnan(x)) return x;
  if (x < 30) {
    const double square = x * x / 4;
    double term = n == 0 ? 1 : x / 2, sum = term;
    for (int k = 1; term > sum * 1e-17; ++k) {
      term *= square / (static_cast<double>(k) * (k + n));
      sum += term;
    }
    return sum * std::exp(-x);
  }
  double term = 1, sum = 1;
  for (int k = 1; k < 40 && std::abs(term) > 1e-17; ++k) {
    const double odd = 2 * k - 1;
    term *= -(4.0 * n * n - odd * odd) / (8.0 * k * x);
    sum += term;
  }
  return sum / std::sqrt(2 * M_PI * x);
}

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
