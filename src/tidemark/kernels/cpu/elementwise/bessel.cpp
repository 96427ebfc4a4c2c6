// Bessel functions, exponential, Fresnel and Dawson integrals and the dilogarithm, computed in
// double precision one element at a time.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#define TIDEMARK_ISA bessel_loops  // ours alone, for every CPU
#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kEuler = 0.57721566490153286061;

/// e^x K_n(x) for n = 0, 1 and 0 < x < 1, by the power series around 0.
double scaled_bessel_k_near_zero(int n, double x) {
  const double square = x * x / 4, log_half = std::log(x / 2);
  // term: square^k / (k! (k + n)!); digammas: psi(k + 1) + psi(k + n + 1)
  double term = 1, digammas = -2 * kEuler + n, sum_i = 0, sum = 0;
  for (int k = 0; k < 40; ++k) {
    sum_i += term;
    sum += term * digammas / 2;
    digammas += 1.0 / (k + 1) + 1.0 / (k + n + 1);
    term *= square / ((k + 1.0) * (k + n + 1.0));
  }
  const double value = n == 0 ? sum - log_half * sum_i : 1 / x + x / 2 * (log_half * sum_i - sum);
  return value * std::exp(x);
}

/// e^x K_n(x): the integral of e^(-x (cosh t - 1)) cosh(n t) over t > 0. The trapezoidal rule is
/// exact to the last bits with this step, as the integrand vanishes at both ends with all its
/// derivatives that count.
double scaled_bessel_k(int n, double x) {
  if (std::isnan(x) || x < 0) return kNaN;
  if (x == 0) return kInfinity;
  if (x < 1) return scaled_bessel_k_near_zero(n, x);
  if (x > 1e8) return std::sqrt(M_PI / (2 * x)) * (1 + (4.0 * n * n - 1) / (8 * x));
  // Like a Gaussian of variance 1 / x, of which this step takes enough samples.
  const double step = std::min(0.2, 0.65 / std::sqrt(x));
  double sum = 0.5;
  for (int i = 1;; ++i) {
    const double s = std::sinh(i * step / 2), exponent = 2 * x * s * s;
    if (exponent > 45) break;
    sum += std::exp(-exponent) * (n == 0 ? 1.0 : std::cosh(i * step));
  }
  return sum * step;
}

double bessel_k(int n, double x) { return scaled_bessel_k(n, x) * (x > 0 ? std::exp(-x) : 1); }

/// e^(-x^2) times the integral of e^(t^2) from 0 to x: samples of a sum of Gaussians (Rybicki).
double dawson(double x) {
  constexpr double kStep = 0.25;  // off by e^-(pi / 2 / step)^2
  if (std::isnan(x)) return x;
  const double size = std::abs(x);
  if (size < 0.2) {
    double term = x, sum = x;
    for (int k = 1; k < 20; ++k) {
      term *= -2 * x * x / (2 * k + 1);
      sum += term;
    }
    return sum;
  }
  if (size > 1e5) return 0.5 / x;
  const double even = 2 * std::round(size / (2 * kStep)), offset = size - even * kStep;
  double sum = 0;
  for (int n = -27; n <= 27; n += 2) {
    const double distance = offset - n * kStep;
    sum += std::exp(-distance * distance) / (n + even);
  }
  return std::copysign(sum / std::sqrt(M_PI), x);
}

/// Integrals of cos and sin of pi t^2 / 2 from 0 to x: real and imaginary part.
std::complex<double> fresnel(double x) {
  using Complex = std::complex<double>;
  const double size = std::abs(x);
  if (std::isnan(x)) return {x, x};
  Complex value(0.5, 0.5);
  if (size < 1.5) {
    // The series of the integral of e^(i pi t^2 / 2).
    Complex term(1, 0), sum(0, 0);
    const Complex by(0, M_PI / 2 * size * size);
    for (int k = 0; k < 40; ++k) {
      sum += term / (2.0 * k + 1);
      term *= by / (k + 1.0);
    }
    value = size * sum;
  } else if (size < 1e8) {
    // The continued fraction of the complementary error function.
    const double square = M_PI * size * size;
    Complex b(1, -square), c(1e300, 0), d = 1.0 / b, h = d;
    for (int n = 1; n < 400; n += 2) {
      const double a = -n * (n + 1.0);
      b += 4;
      d = 1.0 / (a * d + b);
      c = b + a / c;
      const Complex change = c * d;
      h *= change;
      if (std::abs(change.real() - 1) + std::abs(change.imag()) < kEpsilon) break;
    }
    h *= Complex(size, -size);
    // Whole turns taken off first: the angle pi x^2 / 2 has period 4 in x^2.
    const double turned = std::fmod(size * size, 4.0) * M_PI / 2;
    value = Complex(0.5, 0.5) * (1.0 - Complex(std::cos(turned), std::sin(turned)) * h);
  }
  return x < 0 ? -value : value;
}

/// The integral of e^-t / t from x > 0 on.
double exponential_tail(double x) {
  if (x > 750) return 0;
  if (x <= 1) {
    double term = 1, sum = 0;
    for (int k = 1; k < 40; ++k) {
      term *= -x / k;
      sum -= term / k;
    }
    return sum - kEuler - std::log(x);
  }
  double b = x + 1, c = 1e300, d = 1 / b, h = d;
  for (int k = 1; k < 1000; ++k) {
    const double a = -1.0 * k * k;
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    const double change = c * d;
    h *= change;
    if (std::abs(change - 1) < kEpsilon) break;
  }
  return h * std::exp(-x);
}

/// The principal value of the integral of e^t / t up to x.
double exponential_integral(double x) {
  if (std::isnan(x)) return x;
  if (x == 0) return -kInfinity;
  if (x < 0) return -exponential_tail(-x);
  if (x == kInfinity) return x;
  if (x < 40) {
    double term = 1, sum = 0;
    for (int k = 1; k < 200; ++k) {
      term *= x / k;
      sum += term / k;
      if (term < sum * kEpsilon / 4) break;
    }
    return sum + std::log(x) + kEuler;
  }
  double term = 1, sum = 1;
  for (int k = 1; k < 40 && k < x; ++k) {
    term *= k / x;
    sum += term;
  }
  return std::exp(x) / x * sum;
}

/// The dilogarithm of 1 - x: near 1 a series in log(x) with Bernoulli numbers.
double spence_of(double x) {
  if (std::isnan(x) || x < 0) return kNaN;
  if (x == 0) return M_PI * M_PI / 6;
  if (x == kInfinity) return -kInfinity;
  if (x < 0.5) {
    return M_PI * M_PI / 6 - std::log(x) * std::log1p(-x) - spence_of(1 - x);
  }
  if (x > 2) {
    const double l = std::log(x);
    return -l * l / 2 - spence_of(1 / x);
  }
  // B_2k / (2k + 1)!
  static constexpr double kSeries[] = {
      2.77777777777777778e-2,  -2.77777777777777778e-4,  4.72411186696900983e-6,
      -9.18577307466196355e-8, 1.89788699996763610e-9,   -4.06476164514422553e-11,
      8.92169102045645256e-13, -1.99392958607210757e-14, 4.51898002961991820e-16};
  const double u = -std::log(x), square = u * u;
  double sum = 0;
  for (int i = 8; i >= 0; --i) sum = sum * square + kSeries[i];
  return u - square / 4 + u * square * sum;
}

}  // namespace

#define TIDEMARK_SPECIAL(op, ...) \
  TIDEMARK_LOOP_(op, Floats, 1, false, true, TIDEMARK_X, static_cast<T>(__VA_ARGS__))

// The C library has those without a scale.
TIDEMARK_SPECIAL(bessel_j0, ::j0(x))
TIDEMARK_SPECIAL(bessel_j1, ::j1(x))
TIDEMARK_SPECIAL(bessel_y0, x < 0 ? kNaN : ::y0(x))
TIDEMARK_SPECIAL(bessel_y1, x < 0 ? kNaN : ::y1(x))
TIDEMARK_SPECIAL(bessel_k0, bessel_k(0, x))
TIDEMARK_SPECIAL(bessel_k1, bessel_k(1, x))
TIDEMARK_SPECIAL(bessel_k0e, scaled_bessel_k(0, x))
TIDEMARK_SPECIAL(bessel_k1e, scaled_bessel_k(1, x))
TIDEMARK_SPECIAL(dawsn, dawson(x))
TIDEMARK_SPECIAL(fresnel_cos, fresnel(x).real())
TIDEMARK_SPECIAL(fresnel_sin, fresnel(x).imag())
TIDEMARK_SPECIAL(expint, exponential_integral(x))
TIDEMARK_SPECIAL(spence, spence_of(x))

TIDEMARK_LOOPS(loops, bessel_j0_op, bessel_j1_op, bessel_y0_op, bessel_y1_op, bessel_k0_op,
               bessel_k1_op, bessel_k0e_op, bessel_k1e_op, dawsn_op, fresnel_cos_op, fresnel_sin_op,
               expint_op, spence_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
