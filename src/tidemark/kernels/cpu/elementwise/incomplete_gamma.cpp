// Incomplete gamma and beta functions, the Hurwitz zeta function and polygammas, computed in double
// precision one element at a time.

#include <algorithm>
#include <cmath>
#include <limits>

#define TIDEMARK_ISA gamma_loops  // ours alone, for every CPU
#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

double log_gamma(double x) {
  int sign;
  return lgamma_r(x, &sign);  // lgamma writes a global
}

/// log(1 + x) - x, also where both are nearly equal.
double log1p_less_x(double x) {
  if (std::abs(x) > 0.3) return std::log1p(x) - x;
  // With y = x / (2 + x): log(1 + x) = 2 (y + y^3 / 3 + y^5 / 5 + …).
  const double y = x / (2 + x), square = y * y;
  double sum = 0;
  for (int k = 15; k >= 1; --k) sum = sum * square + 1.0 / (2 * k + 1);
  return 2 * y * square * sum - x * y;
}

/// What log_gamma has beyond Stirling's formula, for a >= 10.
double beyond_stirling(double a) {
  static constexpr double kSeries[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                       1.0 / 1188, -691.0 / 360360, 1.0 / 156};
  const double r = 1 / (a * a);
  double sum = 0;
  for (int i = 6; i >= 0; --i) sum = sum * r + kSeries[i];
  return sum / a;
}

/// x^a e^-x / gamma(a)
double gamma_density(double a, double x) {
  if (a < 10) return std::exp(a * std::log(x) - x - log_gamma(a));
  const double distance = (x - a) / a;
  return std::sqrt(a / (2 * M_PI)) * std::exp(a * log1p_less_x(distance) - beyond_stirling(a));
}

/// The logarithmic derivative of gamma for x > 0.
double digamma_of(double x) {
  double result = 0;
  for (; x < 12; ++x) result -= 1 / x;
  static constexpr double kSeries[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                       1.0 / 132, -691.0 / 32760, 1.0 / 12};
  const double r = 1 / (x * x);
  double sum = 0;
  for (int i = 6; i >= 0; --i) sum = sum * r + kSeries[i];
  return result + std::log(x) - 0.5 / x - r * sum;
}

/// A value and its derivative by a.
struct Dual {
  double value, slope;
};

/// Enough where |x - a| is at most a few times sqrt(a), the slowest place.
int most_steps(double a) { return static_cast<int>(std::min(2000 + 12 * std::sqrt(a), 1e6)); }

/// P(a, x) by its series; good for x <= a + 1.
Dual lower_by_series(double a, double x, bool with_slope) {
  Dual term{1, 0}, sum{1, 0};
  const int steps = most_steps(a);
  for (int n = 1; n < steps; ++n) {
    const double by = x / (a + n);
    term = {term.value * by, term.slope * by - term.value * by / (a + n)};
    sum = {sum.value + term.value, sum.slope + term.slope};
    if (term.value <= sum.value * kEpsilon &&
        (!with_slope || std::abs(term.slope) <= std::abs(sum.slope) * kEpsilon)) {
      break;
    }
  }
  const double front = gamma_density(a, x) / a;
  if (!with_slope) return {front * sum.value, 0};
  const double front_slope = std::log(x) - digamma_of(a) - 1 / a;
  return {front * sum.value, front * (sum.slope + sum.value * front_slope)};
}

/// Q(a, x) by its continued fraction; good for x >= a + 1.
Dual upper_by_fraction(double a, double x, bool with_slope) {
  constexpr double kLarge = 0x1p200;
  double y = 1 - a, z = x + y + 1;
  Dual p_before{1, 0}, q_before{x, 0}, p{x + 1, 0}, q{z * x, -x};
  Dual value{p.value / q.value, -p.value * q.slope / (q.value * q.value)};
  const int steps = most_steps(a);
  for (int n = 1; n < steps; ++n) {
    y += 1;
    z += 2;
    const double by = y * n;
    const auto next = [&](const Dual& current, const Dual& before) {
      return Dual{current.value * z - before.value * by,
                  current.slope * z - current.value - before.slope * by + before.value * n};
    };
    const Dual p_next = next(p, p_before), q_next = next(q, q_before);
    p_before = p;
    q_before = q;
    p = p_next;
    q = q_next;
    if (q.value != 0) {
      const Dual now{p.value / q.value, (p.slope - p.value / q.value * q.slope) / q.value};
      const bool done =
          std::abs(now.value - value.value) <= kEpsilon * std::abs(now.value) &&
          (!with_slope || std::abs(now.slope - value.slope) <= kEpsilon * std::abs(now.slope));
      value = now;
      if (done) break;
    }
    if (std::abs(p.value) > kLarge || std::abs(q.value) > kLarge ||
        std::abs(q.slope) > kLarge * kLarge) {
      for (Dual* d : {&p, &q, &p_before, &q_before}) {
        d->value /= kLarge;
        d->slope /= kLarge;
      }
    }
  }
  const double front = gamma_density(a, x);
  if (!with_slope) return {front * value.value, 0};
  const double front_slope = std::log(x) - digamma_of(a);
  return {front * value.value, front * (value.slope + value.value * front_slope)};
}

/// Q(a, x) for a beyond what the series reach: Temme's uniform expansion, two terms of it.
double upper_far_out(double a, double x) {
  const double distance = (x - a) / a;
  const double half_square = -log1p_less_x(distance);
  const double eta = std::copysign(std::sqrt(2 * half_square), distance);
  const double first = std::abs(distance) < 1e-4 ? -1.0 / 3 + eta / 12 : 1 / distance - 1 / eta;
  return 0.5 * std::erfc(eta * std::sqrt(a / 2)) +
         std::exp(-a * half_square) / std::sqrt(2 * M_PI * a) * first;
}

bool is_far_out(double a) { return a > 1e8; }

double lower_gamma(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a <= 0) return kNaN;
  if (x == 0 || a == kInfinity) return x == kInfinity ? kNaN : 0;
  if (x == kInfinity) return 1;
  if (is_far_out(a)) return 1 - upper_far_out(a, x);
  return x > 1 && x > a ? 1 - upper_by_fraction(a, x, false).value
                        : lower_by_series(a, x, false).value;
}

double upper_gamma(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a <= 0) return kNaN;
  if (x == 0 || a == kInfinity) return x == kInfinity ? kNaN : 1;
  if (x == kInfinity) return 0;
  if (is_far_out(a)) return upper_far_out(a, x);
  return x > 1 && x > a ? upper_by_fraction(a, x, false).value
                        : 1 - lower_by_series(a, x, false).value;
}

double lower_gamma_slope(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || x < 0 || a <= 0) return kNaN;
  if (x == 0 || std::isinf(x) || std::isinf(a)) return 0;
  if (is_far_out(a)) return -gamma_density(a, x) / x;  // what moves is the mean
  return x > 1 && x > a ? -upper_by_fraction(a, x, true).slope : lower_by_series(a, x, true).slope;
}

/// The derivative of a gamma number by its shape parameter, its quantile held fixed.
double gamma_number_slope(double a, double x) {
  const double density = gamma_density(a, x) / x;
  return -lower_gamma_slope(a, x) / density;
}

/// The sum of 1 / (q + k)^x over k >= 0 for q > 0, x > 1: some terms, then Euler and Maclaurin's
/// formula for the rest.
double positive_zeta(double x, double q) {
  // (2k)! / B_2k
  static constexpr double kDivisors[] = {12.0,
                                         -720.0,
                                         30240.0,
                                         -1209600.0,
                                         47900160.0,
                                         -1.8924375803183791606e9,
                                         7.47242496e10,
                                         -2.950130727918164224e12,
                                         1.1646782814350067249e14,
                                         -4.5979787224074726105e15,
                                         1.8152105401943546773e17,
                                         -7.1661652561756670113e18};
  double sum = std::pow(q, -x), at = q;
  for (int k = 0; k < 12 || at <= 12; ++k) {
    at += 1;
    const double term = std::pow(at, -x);
    sum += term;
    if (term < sum * kEpsilon / 8) return sum;
  }
  double term = std::pow(at, -x);
  sum += term * at / (x - 1) - term / 2;
  double factor = 1;
  for (int i = 0, k = 0; i < 12; ++i) {
    factor *= x + k++;
    term /= at;
    const double piece = factor * term / kDivisors[i];
    sum += piece;
    if (std::abs(piece) < std::abs(sum) * kEpsilon) break;
    factor *= x + k++;
    term /= at;
  }
  return sum;
}

double hurwitz_zeta(double x, double q) {
  if (std::isnan(x) || std::isnan(q)) return kNaN;
  if (x == 1) return kInfinity;
  if (x < 1) return kNaN;
  if (q > 0) return q == kInfinity ? 0 : positive_zeta(x, q);
  const bool even = std::fmod(x, 2) == 0;
  if (q == std::floor(q)) return even ? kInfinity : kNaN;
  if (x != std::floor(x)) return kNaN;  // powers of negative numbers
  // The sum over all integers, which depends on the fraction alone, less what lies before q.
  const double fraction = q - std::floor(q);
  const double before = positive_zeta(x, 1 - fraction) - positive_zeta(x, 1 - q);
  return positive_zeta(x, fraction) + (even ? before : -before);
}

double polygamma_of(double n, double x) {
  if (std::isnan(n) || n < 0 || n != std::floor(n)) return kNaN;
  if (n == 0) {
    if (x > 0) return x == kInfinity ? x : digamma_of(x);
    if (std::isnan(x) || x == std::floor(x)) return kNaN;
    return digamma_of(1 - x) - M_PI / std::tan(M_PI * (x - std::floor(x)));
  }
  const double size = std::tgamma(n + 1) * hurwitz_zeta(n + 1, x);
  return std::fmod(n, 2) == 1 ? size : -size;
}

/// The continued fraction of the incomplete beta function; good for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), h = d;
  const int steps = most_steps(std::max(a, b));
  for (int m = 1; m < steps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    h *= d * c;
    if (std::abs(d * c - 1) < kEpsilon) break;
  }
  return h;
}

double log_beta(double a, double b) {
  const double small = std::min(a, b), large = std::max(a, b);
  if (large < 10) return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
  // Stirling's formula without the large parts that cancel.
  const double correction = beyond_stirling(large) - beyond_stirling(a + b);
  if (small < 10) {
    return log_gamma(small) + correction + small - small * std::log(a + b) +
           (large - 0.5) * std::log1p(-small / (a + b));
  }
  return 0.5 * std::log(2 * M_PI / small) + beyond_stirling(small) + correction +
         small * std::log(small / (a + b)) + (large - 0.5) * std::log1p(-small / (a + b));
}

double incomplete_beta(double a, double b, double x) {
  if (std::isnan(a) || std::isnan(b) || a <= 0 || b <= 0 || !(x >= 0 && x <= 1)) return kNaN;
  if (std::isinf(a) || std::isinf(b)) return kNaN;
  if (x == 0 || x == 1) return x;
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta(a, b));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

#define TIDEMARK_SPECIAL2(op, ...) \
  TIDEMARK_LOOP_(op, Floats, 2, false, true, TIDEMARK_XY, static_cast<T>(__VA_ARGS__))
#define TIDEMARK_SPECIAL3(op, ...) \
  TIDEMARK_LOOP_(op, Floats, 3, false, true, TIDEMARK_XYZ, static_cast<T>(__VA_ARGS__))

TIDEMARK_SPECIAL2(igamma, lower_gamma(x, y))
TIDEMARK_SPECIAL2(igammac, upper_gamma(x, y))
TIDEMARK_SPECIAL2(igamma_grad_a, lower_gamma_slope(x, y))
TIDEMARK_SPECIAL2(random_gamma_grad, gamma_number_slope(x, y))
TIDEMARK_SPECIAL2(zeta, hurwitz_zeta(x, y))
TIDEMARK_SPECIAL2(polygamma, polygamma_of(x, y))
TIDEMARK_SPECIAL3(betainc, incomplete_beta(x, y, z))

TIDEMARK_LOOPS(loops, igamma_op, igammac_op, igamma_grad_a_op, random_gamma_grad_op, zeta_op,
               polygamma_op, betainc_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
