// Gamma and Poisson numbers by rejection. Element i tries blocks of a stream of its own, so how
// often one element is rejected changes nothing for the others.

#include <cmath>
#include <limits>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/random_stream.h"

namespace tidemark::cpu {

namespace {

constexpr int64_t kGrain = 1024;

/// Uniform numbers in (0, 1) for one element: Philox 4x32-10 blocks, one after the other.
class Uniforms {
 public:
  Uniforms(const RandomStream& s, int64_t element)
      : key_(s.key), low_(s.counter_low + static_cast<uint64_t>(element)), high_(s.counter_high) {}

  double next() {
    if (used_ == 4) refill();
    return (words_[used_++] + 0.5) * 0x1p-32;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(next()));
    return radius * std::cos(6.28318530717958647692 * next());
  }

 private:
  void refill() {
    high_ += 0x9e3779b97f4a7c15u;  // odd: runs through all values, far from other elements' blocks
    uint32_t c[4] = {static_cast<uint32_t>(low_), static_cast<uint32_t>(low_ >> 32),
                     static_cast<uint32_t>(high_), static_cast<uint32_t>(high_ >> 32)};
    uint32_t k0 = static_cast<uint32_t>(key_), k1 = static_cast<uint32_t>(key_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{c[0]} * 0xd2511f53u, p1 = uint64_t{c[2]} * 0xcd9e8d57u;
      c[0] = static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0;
      c[1] = static_cast<uint32_t>(p1);
      c[2] = static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1;
      c[3] = static_cast<uint32_t>(p0);
      k0 += 0x9e3779b9u;
      k1 += 0xbb67ae85u;
    }
    for (int i = 0; i < 4; ++i) words_[i] = c[i];
    used_ = 0;
  }

  uint64_t key_, low_, high_;
  uint32_t words_[4];
  int used_ = 4;
};

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

double as_double(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::float16:
      return static_cast<float>(t.data<Half>()[i]);
    case DType::bfloat16:
      return static_cast<float>(t.data<BFloat16>()[i]);
    case DType::float32:
      return t.data<float>()[i];
    case DType::float64:
      return t.data<double>()[i];
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

/// NaN becomes 0, what is out of range the nearest bound.
template <class T>
T as_integer(double value) {
  if (std::isnan(value)) return 0;
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  return static_cast<T>(value);
}

void put(const Tensor& t, int64_t i, double value) {
  switch (t.dtype()) {
    case DType::float16:
      t.mutable_data<Half>()[i] = Half(static_cast<float>(value));
      break;
    case DType::bfloat16:
      t.mutable_data<BFloat16>()[i] = BFloat16(static_cast<float>(value));
      break;
    case DType::float32:
      t.mutable_data<float>()[i] = static_cast<float>(value);
      break;
    case DType::float64:
      t.mutable_data<double>()[i] = value;
      break;
    case DType::int32:
      t.mutable_data<int32_t>()[i] = as_integer<int32_t>(value);
      break;
    default:
      t.mutable_data<int64_t>()[i] = as_integer<int64_t>(value);
  }
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

TIDEMARK_KERNEL(random_gamma, kIndex, run<gamma_number>);
TIDEMARK_KERNEL(stateless_random_gamma, kIndex, run<gamma_number>);
TIDEMARK_KERNEL(random_poisson, kIndex, run<poisson_number>);
TIDEMARK_KERNEL(stateless_random_poisson, kIndex, run<poisson_number>);

}  // namespace

}  // namespace tidemark::cpu
