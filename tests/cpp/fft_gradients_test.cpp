// Gradients between real and complex numbers: the gradient of a complex number is that of its real
// part plus i times that of its imaginary part.
#include <tidemark/call.h>

#include <gtest/gtest.h>

#include <complex>
#include <random>

#include "tidemark/autodiff/vjp.h"

namespace tidemark {
namespace {

using Z = std::complex<double>;

std::vector<double> numbers(int64_t count, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  std::vector<double> out(static_cast<size_t>(count));
  for (double& v : out) v = draw(engine);
  return out;
}

Tensor real_tensor(const Shape& shape, uint64_t seed) {
  const std::vector<double> v = numbers(shape.num_elements(), seed);
  return Tensor::of(std::span<const double>(v), shape);
}

Tensor complex_tensor(const Shape& shape, uint64_t seed) {
  const std::vector<double> v = numbers(2 * shape.num_elements(), seed);
  Tensor t = Tensor::uninitialized(DType::complex128, shape);
  std::copy(v.begin(), v.end(), static_cast<double*>(t.mutable_raw_data()));
  return t;
}

/// Real and imaginary parts as so many doubles.
std::span<double> parts(const Tensor& t) {
  const bool is_complex = t.dtype() == DType::complex128;
  return {static_cast<double*>(t.mutable_raw_data()),
          static_cast<size_t>(t.num_elements() * (is_complex ? 2 : 1))};
}

double weighted(const Tensor& y, const Tensor& weights) {
  double sum = 0;
  for (size_t i = 0; i < parts(y).size(); ++i) sum += parts(y)[i] * parts(weights)[i];
  return sum;
}

void check(const char* name, const Tensor& x, const std::vector<Attr>& attrs) {
  SCOPED_TRACE(name);
  const OpDef& op = OpRegistry::instance().get(name);
  const std::vector<Tensor> y = call_all(op, std::vector{x}, attrs);
  const Tensor weights = y[0].dtype() == DType::complex128 ? complex_tensor(y[0].shape(), 5)
                                                           : real_tensor(y[0].shape(), 5);
  const Tensor dx = autodiff::vjp(op, std::vector{x}, attrs, y, std::vector{weights})[0];
  ASSERT_EQ(dx.shape(), x.shape());
  ASSERT_EQ(dx.dtype(), x.dtype());
  const double step = 1e-6;
  for (size_t i = 0; i < parts(x).size(); ++i) {
    const double kept = parts(x)[i];
    parts(x)[i] = kept + step;
    const double up = weighted(call_all(op, std::vector{x}, attrs)[0], weights);
    parts(x)[i] = kept - step;
    const double down = weighted(call_all(op, std::vector{x}, attrs)[0], weights);
    parts(x)[i] = kept;
    EXPECT_NEAR(parts(dx)[i], (up - down) / (2 * step), 1e-7) << "part " << i;
  }
}

TEST(FftGradients, AgreeWithDifferences) {
  for (int64_t n : {1, 2, 5, 6, 37}) {
    check("fft", complex_tensor({2, n}, 1), {Ints{-1}, false});
    check("fft", complex_tensor({n, 2}, 2), {Ints{0, 1}, true});
    check("rfft", real_tensor({2, n}, 3), {});
    check("irfft", complex_tensor({2, n / 2 + 1}, 4), {n});
  }
}

}  // namespace
}  // namespace tidemark
