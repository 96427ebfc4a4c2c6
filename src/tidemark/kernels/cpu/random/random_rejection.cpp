// Gamma, Poisson and binomial numbers by rejection. Element i tries blocks of a stream of its own,
// so how often one element is rejected changes nothing for the others.

#include <cmath>
#include <limits>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/random/random_numbers.h"

namespace tidemark::cpu {

namespace {

constexpr int64_t kGrain = 1024;

/// Marsaglia and Tsang (2000); shapes below 1 by a power of a uniform number.
double gamma_number(Uniforms& u, double alpha) {
  if (!(alpha > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(alpha)) return alpha;  // nothing below would ever be accepted
  const double power = alpha < 1 ? std::pow(u.next(), 1 / alpha) : 1;
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = u.normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(u.next()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * power;
  }
}

/// Small means by products of uniform numbers, large ones by Hörmann's transformed rejection
/// (1993).
double poisson_number(Uniforms& u, double rate) {
  if (!(rate >= 0) || std::isinf(rate)) return std::numeric_limits<double>::quiet_NaN();
  if (rate < 10) {
    const double stop = std::exp(-rate);
    double count = 0;
    for (double product = u.next(); product > stop; product *= u.next()) ++count;
    return count;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), squeeze = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double x = u.next() - 0.5, v = u.next();
    const double distance = 0.5 - std::abs(x);
    const double count = std::floor((2 * a / distance + b) * x + rate + 0.43);
    if (distance >= 0.07 && v <= squeeze) return count;
    if (count < 0 || (distance < 0.013 && v > distance)) continue;
    const double accepted = std::log(v * inverse_alpha / (a / (distance * distance) + b));
    int sign = 0;  // plain lgamma writes it to a global, where threads would race
    if (accepted <= count * std::log(rate) - rate - lgamma_r(count + 1, &sign)) return count;
  }
}

/// The number of successes among `n` tries of probability p <= 1/2 when few are expected: the gaps
/// between successes are geometric.
double rare_successes(Uniforms& u, double n, double p) {
  const double by = std::log1p(-p);
  double successes = 0;
  for (double tries = 0;; ++successes) {
    tries += std::ceil(std::log(u.next()) / by);
    if (!(tries <= n)) return successes;
  }
}

/// What the logarithm of a factorial has beyond Stirling's formula.
double beyond_stirling(double k) {
  const double x = k + 1;
  if (k > 9) return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / (x * x)) / (x * x)) / x;
  int sign = 0;
  return lgamma_r(x, &sign) - (k + 0.5) * std::log(x) + x - 0.91893853320467274178;
}

/// Many successes, p <= 1/2: transformed rejection (Hörmann 1993, BTRS).
double many_successes(Uniforms& u, double n, double p) {
  const double q = 1 - p, deviation = std::sqrt(n * p * q), odds = p / q;
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double centre = n * p + 0.5, squeeze = 0.92 - 4.2 / b;
  const double alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((n + 1) * p);
  for (;;) {
    const double x = u.next() - 0.5;
    double v = u.next();
    const double distance = 0.5 - std::abs(x);
    const double k = std::floor((2 * a / distance + b) * x + centre);
    if (distance >= 0.07 && v <= squeeze) return k;
    if (k < 0 || k > n) continue;
    v = std::log(v * alpha / (a / (distance * distance) + b));
    const double limit = (mode + 0.5) * std::log((mode + 1) / (odds * (n - mode + 1))) +
                         (n + 1) * std::log((n - mode + 1) / (n - k + 1)) +
                         (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) +
                         beyond_stirling(mode) + beyond_stirling(n - mode) - beyond_stirling(k) -
                         beyond_stirling(n - k);
    if (v <= limit) return k;
  }
}

double binomial_number(Uniforms& u, double count, double p) {
  if (!(count >= 0) || std::isinf(count) || !(p >= 0 && p <= 1)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double n = std::floor(count), rarer = p <= 0.5 ? p : 1 - p;
  const double found = rarer == 0 || n == 0 ? 0
                       : n * rarer < 10     ? rare_successes(u, n, rarer)
                                            : many_successes(u, n, rarer);
  return p <= 0.5 ? found : n - found;
}

template <double (*draw)(Uniforms&, double)>
void run(KernelContext& k) {
  const Tensor& out = k.output(0);
  const Tensor& parameter = k.input(k.num_inputs() - 1);
  if (!(kFloats | kIndex).contains(out.dtype())) {
    k.fail("cannot make ", name_of(out.dtype()), "; choose a float, int32 or int64");
  }
  const int64_t n = out.num_elements();
  const RandomStream stream = stream_of(k, seed_input(k), static_cast<uint64_t>(n));
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Uniforms uniforms(stream, i);
      put(out, i, draw(uniforms, as_double(parameter, i % parameter.num_elements())));
    }
  });
}

/// The last two inputs hold a parameter for every element.
void run_binomial(KernelContext& k) {
  const Tensor &out = k.output(0), &counts = k.input(k.num_inputs() - 2);
  const Tensor& probs = k.input(k.num_inputs() - 1);
  if (!(kFloats | kIndex).contains(out.dtype())) {
    k.fail("cannot make ", name_of(out.dtype()), "; choose a float, int32 or int64");
  }
  const int64_t n = out.num_elements();
  const RandomStream stream = stream_of(k, seed_input(k), static_cast<uint64_t>(n));
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Uniforms uniforms(stream, i);
      const double count = as_double(counts, i % counts.num_elements());
      put(out, i, binomial_number(uniforms, count, as_double(probs, i % probs.num_elements())));
    }
  });
}

TIDEMARK_KERNEL_OF(cpu, random_binomial, kIndex, run_binomial);
TIDEMARK_KERNEL_OF(cpu, stateless_random_binomial, kIndex, run_binomial);
TIDEMARK_KERNEL_OF(cpu, random_gamma, kIndex, run<gamma_number>);
TIDEMARK_KERNEL_OF(cpu, stateless_random_gamma, kIndex, run<gamma_number>);
TIDEMARK_KERNEL_OF(cpu, random_poisson, kIndex, run<poisson_number>);
TIDEMARK_KERNEL_OF(cpu, stateless_random_poisson, kIndex, run<poisson_number>);

}  // namespace

}  // namespace tidemark::cpu
