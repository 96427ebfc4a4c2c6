#include <gtest/gtest.h>
#include <tidemark/call.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "tidemark/base/thread_pool.h"

namespace tidemark {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
double as_double(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
Tensor random_tensor(const Shape& shape, uint32_t seed = 1, double low = -4, double high = 4) {
  const Tensor t = Tensor::uninitialized(dtype_of<T>(), shape);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> draw(std::is_unsigned_v<T> ? 0 : low, high);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const double value = draw(generator);
    if constexpr (std::is_integral_v<T>) {
      t.mutable_data<T>()[i] = static_cast<T>(value);
    } else {
      t.mutable_data<T>()[i] = T(static_cast<float>(value));
    }
  }
  return t;
}

/// Elements of each result, by plain index arithmetic.
template <class T>
std::vector<std::vector<double>> groups(const Tensor& t, const std::vector<bool>& reduced) {
  int64_t results = 1;
  for (int d = 0; d < t.rank(); ++d) {
    if (!reduced[static_cast<size_t>(d)]) results *= t.dim(d);
  }
  std::vector<std::vector<double>> out(static_cast<size_t>(results));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    int64_t rest = i, result = 0, scale = 1;
    for (int d = t.rank() - 1; d >= 0; --d) {
      if (!reduced[static_cast<size_t>(d)]) {
        result += rest % t.dim(d) * scale;
        scale *= t.dim(d);
      }
      rest /= t.dim(d);
    }
    out[static_cast<size_t>(result)].push_back(as_double(t.data<T>()[i]));
  }
  return out;
}

double reference(const std::string& op, const std::vector<double>& x) {
  double sum = 0, prod = 1, low = kInf, high = -kInf, squares = 0;
  for (const double v : x) {
    sum += v;
    prod *= v;
    low = std::min(low, v);
    high = std::max(high, v);
    squares += v * v;
  }
  const double mean = sum / static_cast<double>(x.size());
  double spread = 0, exps = 0;
  for (const double v : x) {
    spread += (v - mean) * (v - mean);
    exps += std::exp(v - high);
  }
  spread /= static_cast<double>(x.size());
  if (op == "sum") return sum;
  if (op == "mean") return mean;
  if (op == "prod") return prod;
  if (op == "min") return low;
  if (op == "max") return high;
  if (op == "euclidean_norm") return std::sqrt(squares);
  if (op == "variance") return spread;
  if (op == "std") return std::sqrt(spread);
  return std::log(exps) + high;  // logsumexp
}

/// Every subset of the axes, against doubles.
template <class T>
void check_all_axes(const std::string& op, const Shape& shape, double tolerance) {
  const Tensor t = op == "prod" ? random_tensor<T>(shape, 3, 0.9, 1.1) : random_tensor<T>(shape);
  for (int subset = 0; subset < (1 << shape.rank()); ++subset) {
    Ints axes;
    std::vector<bool> reduced(static_cast<size_t>(shape.rank()));
    for (int d = 0; d < shape.rank(); ++d) {
      if ((subset >> d) & 1) axes.push_back(d - (d % 2 ? shape.rank() : 0));
      reduced[static_cast<size_t>(d)] = (subset >> d) & 1;
    }
    const Tensor y = call(op, {t}, {{"axis", axes}});
    const auto wanted = groups<T>(t, reduced);
    ASSERT_EQ(y.num_elements(), static_cast<int64_t>(wanted.size()));
    for (size_t i = 0; i < wanted.size(); ++i) {
      double value = reference(op, wanted[i]);
      if (std::is_integral_v<T>) value = std::trunc(value);
      const double given = as_double(y.data<T>()[i]);
      ASSERT_NEAR(given, value, tolerance * (1 + std::abs(value)))
          << op << " " << name_of(t.dtype()) << " axes " << subset << " result " << i;
    }
  }
}

template <class T>
class ReduceTyped : public testing::Test {};
using Types = testing::Types<Half, BFloat16, float, double, int8_t, int16_t, int32_t, int64_t,
                             uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(ReduceTyped, Types);

template <class T>
double tolerance() {
  if (std::is_same_v<T, Half>) return 2e-3;
  if (std::is_same_v<T, BFloat16>) return 2e-2;
  if (std::is_same_v<T, float>) return 2e-6;
  return 1e-12;
}

TYPED_TEST(ReduceTyped, AgreesWithDoublesOverAllAxes) {
  for (const char* op : {"mean", "min", "max"}) {
    check_all_axes<TypeParam>(op, {3, 5, 2, 7}, tolerance<TypeParam>());
    check_all_axes<TypeParam>(op, {2, 37, 70}, tolerance<TypeParam>());
  }
  check_all_axes<TypeParam>("sum", {3, 2, 2, 4}, tolerance<TypeParam>() * 4);
  check_all_axes<TypeParam>("prod", {2, 3, 3}, tolerance<TypeParam>());
  if (!std::is_integral_v<TypeParam>) {
    for (const char* op : {"sum", "logsumexp", "variance", "std", "euclidean_norm"}) {
      if constexpr (!std::is_integral_v<TypeParam>) {
        check_all_axes<TypeParam>(op, {3, 5, 2, 7}, tolerance<TypeParam>() * 8);
        check_all_axes<TypeParam>(op, {2, 37, 70}, tolerance<TypeParam>() * 8);
      }
    }
  }
}

TEST(Reduce, IntegersWrapAround) {
  EXPECT_EQ(call("sum", {Tensor::of<int8_t>({100, 100, 100})}).item<int8_t>(), 44);
  EXPECT_EQ(call("sum", {Tensor::of<uint8_t>({200, 100})}).item<uint8_t>(), 44);
  EXPECT_EQ(call("prod", {Tensor::of<int32_t>({1 << 20, 1 << 20, 3})}).item<int32_t>(), 0);
  EXPECT_EQ(call("mean", {Tensor::of<uint8_t>({200, 200})}).item<uint8_t>(), 200);
  EXPECT_EQ(call("mean", {Tensor::of<int32_t>({-1, -2})}).item<int32_t>(), -1);
  EXPECT_EQ(call("euclidean_norm", {Tensor::of<int32_t>({1, 2, 3})}).item<int32_t>(), 3);
}

TEST(Reduce, NothingGivesTheIdentity) {
  const Tensor none = Tensor::uninitialized(DType::float32, {2, 0});
  const auto first = [&](const char* op) {
    return call(op, {none}, {{"axis", Ints{1}}}).data<float>()[1];
  };
  EXPECT_EQ(first("sum"), 0);
  EXPECT_EQ(first("prod"), 1);
  EXPECT_EQ(first("min"), kInf);
  EXPECT_EQ(first("max"), -kInf);
  EXPECT_TRUE(std::isnan(first("mean")));
  EXPECT_EQ(first("logsumexp"), -kInf);
  EXPECT_EQ(call("max", {Tensor::uninitialized(DType::int32, {0})}).item<int32_t>(),
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(call("mean", {Tensor::uninitialized(DType::int32, {0})}).item<int32_t>(), 0);
  EXPECT_FALSE(call("any", {Tensor::uninitialized(DType::bool_, {0})}).item<bool>());
  EXPECT_TRUE(call("all", {Tensor::uninitialized(DType::bool_, {0})}).item<bool>());
  EXPECT_EQ(call("sum", {none}, {{"axis", Ints{0}}}).shape(), (Shape{0}));
  EXPECT_EQ(call("sum", {Tensor::uninitialized(DType::float32, {3, 0, 2})}).item<float>(), 0);
}

TEST(Reduce, NanAndInfinities) {
  for (int64_t at : {0, 5, 17, 40, 99}) {
    Tensor t = random_tensor<float>({100});
    t.mutable_data<float>()[at] = kNan;
    for (const char* op : {"min", "max", "sum", "logsumexp"}) {
      EXPECT_TRUE(std::isnan(call(op, {t}).item<float>())) << op << at;
      EXPECT_TRUE(
          std::isnan(call(op, {t.reshaped({100, 1})}, {{"axis", Ints{0}}}).data<float>()[0]));
      EXPECT_TRUE(
          std::isnan(call(op, {t.reshaped({10, 10})}, {{"axis", Ints{0}}}).data<float>()[at % 10]));
    }
  }
  const auto logsumexp = [](std::initializer_list<float> x) {
    return call("logsumexp", {Tensor::of(x)}).item<float>();
  };
  EXPECT_EQ(logsumexp({-kInf, -kInf}), -kInf);
  EXPECT_EQ(logsumexp({1, kInf}), kInf);
  EXPECT_EQ(logsumexp({3, -kInf}), 3);
  EXPECT_FLOAT_EQ(logsumexp({1000, 1000}), 1000 + std::log(2.f));
  EXPECT_FLOAT_EQ(logsumexp({-1000, -1000}), -1000 + std::log(2.f));
}

TEST(Reduce, BooleansAndScalars) {
  const Tensor t = Tensor::of<bool>({true, false, false, false}, {2, 2});
  const Tensor some = call("any", {t}, {{"axis", Ints{1}}});
  EXPECT_TRUE(some.data<bool>()[0]);
  EXPECT_FALSE(some.data<bool>()[1]);
  EXPECT_FALSE(call("all", {t}).item<bool>());
  EXPECT_EQ(call("sum", {Tensor(3.f)}).item<float>(), 3);
  EXPECT_EQ(call("max", {Tensor(3.f)}, {{"axis", Ints{}}}).item<float>(), 3);
}

TEST(Reduce, KeepsDimensions) {
  const Tensor t = random_tensor<float>({2, 3, 4});
  EXPECT_EQ(call("sum", {t}, {{"axis", Ints{1}}, {"keepdims", true}}).shape(), (Shape{2, 1, 4}));
  EXPECT_EQ(call("sum", {t}, {{"keepdims", true}}).shape(), (Shape{1, 1, 1}));
  EXPECT_EQ(call("sum", {t}, {{"axis", Ints{-1, 0}}}).shape(), (Shape{3}));
}

TEST(Reduce, RefusesBadAxes) {
  const Tensor t = random_tensor<float>({2, 3});
  EXPECT_THROW(call("sum", {t}, {{"axis", Ints{2}}}), InvalidArgumentError);
  EXPECT_THROW(call("sum", {t}, {{"axis", Ints{-3}}}), InvalidArgumentError);
  EXPECT_THROW(call("sum", {t}, {{"axis", Ints{0, -2}}}), InvalidArgumentError);
  EXPECT_THROW(call("max", {Tensor(true)}), InvalidArgumentError);
}

TEST(Reduce, ComplexNumbers) {
  using C = std::complex<float>;
  const Tensor t = Tensor::of<C>({C(1, 1), C(2, 0), C(3, -1), C(0, 2)}, {2, 2});
  EXPECT_EQ(call("sum", {t}).item<C>(), C(6, 2));
  EXPECT_EQ(call("sum", {t}, {{"axis", Ints{0}}}).data<C>()[1], C(2, 2));
  EXPECT_EQ(call("mean", {t}, {{"axis", Ints{1}}}).data<C>()[0], C(1.5, 0.5));
  EXPECT_EQ(call("prod", {t}, {{"axis", Ints{0}}}).data<C>()[0], C(4, 2));
  EXPECT_NEAR(call("euclidean_norm", {t}).item<C>().real(), std::sqrt(20.f), 1e-6);
  const C three[] = {C(1, 1), C(2, 0), C(3, 0)};
  const Tensor v = call("variance", {Tensor::of(std::span<const C>(three), {3})});
  EXPECT_EQ(v.dtype(), DType::float32);
  EXPECT_NEAR(v.item<float>(), 8.0 / 9, 1e-6);
}

TEST(Reduce, LargeSumsStayExactEnough) {
  const int64_t n = (16 << 20) + 77;
  const Tensor t = Tensor::uninitialized(DType::float32, {n});
  std::fill_n(t.mutable_data<float>(), n, 0.1f);
  const double wanted = 0.1f * static_cast<double>(n);
  EXPECT_NEAR(call("sum", {t}).item<float>(), wanted, wanted * 5e-7);
  const Tensor columns = t.rows(0, n / 3 * 3).reshaped({n / 3, 3});
  EXPECT_NEAR(call("sum", {columns}, {{"axis", Ints{0}}}).data<float>()[2], wanted / 3,
              wanted * 5e-7);
}

TEST(Reduce, DoesNotDependOnThreads) {
  const Tensor t = random_tensor<float>({1 << 21});
  const int before = num_threads();
  for (const char* op : {"sum", "prod", "variance", "logsumexp", "euclidean_norm"}) {
    for (const Shape& shape : {Shape{1 << 21}, Shape{64, 1 << 15}, Shape{1 << 15, 64},
                               Shape{8, 1 << 10, 256}, Shape{1 << 20, 2}}) {
      for (int axis = 0; axis < shape.rank(); ++axis) {
        std::vector<Tensor> results;
        for (const int threads : {1, 2, 3}) {
          set_num_threads(threads);
          results.push_back(call(op, {t.reshaped(shape)}, {{"axis", Ints{axis}}}));
        }
        for (size_t i = 1; i < results.size(); ++i) {
          ASSERT_EQ(std::memcmp(results[0].raw_data(), results[i].raw_data(), results[0].nbytes()),
                    0)
              << op << shape.to_string() << axis;
        }
      }
    }
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace tidemark
