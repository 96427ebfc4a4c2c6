#include <gtest/gtest.h>
#include <tidemark/call.h>
#include <tidemark/random.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "tidemark/base/random_state.h"
#include "tidemark/base/thread_pool.h"

namespace tidemark {
namespace {

constexpr int64_t kMany = 1 << 20;

std::vector<double> doubles(const Tensor& t) {
  const Tensor d = t.dtype() == DType::float64 ? t : call("cast", {t}, {{"dtype", DType::float64}});
  return {d.data<double>(), d.data<double>() + d.num_elements()};
}

double moment(const std::vector<double>& x, int order) {
  double sum = 0;
  for (const double v : x) sum += std::pow(v, order);
  return sum / static_cast<double>(x.size());
}

/// Kolmogorov and Smirnov's distance times sqrt(n): below 1.95 with probability 0.999.
template <class Cdf>
double distance(std::vector<double> x, Cdf cdf) {
  std::sort(x.begin(), x.end());
  const double n = static_cast<double>(x.size());
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double p = cdf(x[i]), rank = static_cast<double>(i);
    most = std::max({most, p - rank / n, (rank + 1) / n - p});
  }
  return most * std::sqrt(n);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(Random, NormalNumbersAreNormal) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    const auto x = doubles(random::stateless_normal({kMany}, {7, 8}, 0, 1, dtype));
    const double error = 1 / std::sqrt(static_cast<double>(kMany));
    EXPECT_NEAR(moment(x, 1), 0, 4 * error);
    EXPECT_NEAR(moment(x, 2), 1, 4 * error * std::sqrt(2));
    EXPECT_NEAR(moment(x, 3), 0, 4 * error * std::sqrt(15));
    EXPECT_NEAR(moment(x, 4), 3, 4 * error * std::sqrt(96));
    EXPECT_LT(distance(x, normal_cdf), 1.95);
    // Neighbours, and the two halves of a pair (16 apart), are independent.
    for (const size_t lag : {1, 16, 32, 64}) {
      double sum = 0;
      for (size_t i = lag; i < x.size(); ++i) sum += x[i] * x[i - lag];
      EXPECT_NEAR(sum / static_cast<double>(kMany), 0, 5 * error) << lag;
    }
  }
}

TEST(Random, TailsAreThere) {
  int64_t beyond_4 = 0, beyond_5 = 0;
  double most = 0;
  for (int part = 0; part < 16; ++part) {
    const Tensor t = random::stateless_normal({kMany}, {part, 1});
    for (const float v : t.values<float>()) {
      beyond_4 += std::abs(v) > 4;
      beyond_5 += std::abs(v) > 5;
      most = std::max(most, static_cast<double>(std::abs(v)));
    }
  }
  const double n = 16 * kMany;
  EXPECT_NEAR(static_cast<double>(beyond_4), n * 6.334e-5, 5 * std::sqrt(n * 6.334e-5));
  EXPECT_NEAR(static_cast<double>(beyond_5), n * 5.733e-7, 5 * std::sqrt(n * 5.733e-7));
  EXPECT_LT(most, 7);
}

TEST(Random, ShortFloatsHaveTheRightMoments) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    const auto x = doubles(random::stateless_normal({kMany}, {3, 4}, 2, 0.5, dtype));
    EXPECT_NEAR(moment(x, 1), 2, 3e-3);
    EXPECT_NEAR(moment(x, 2), 4.25, 1e-2);
    const auto u = doubles(random::stateless_uniform({kMany}, {3, 4}, 1, 3, dtype));
    EXPECT_NEAR(moment(u, 1), 2, dtype == DType::float16 ? 3e-3 : 2e-2);
    EXPECT_GE(*std::min_element(u.begin(), u.end()), 1);
    EXPECT_LT(*std::max_element(u.begin(), u.end()), 3);
  }
}

TEST(Random, UniformNumbersAreUniform) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    const auto x = doubles(random::stateless_uniform({kMany}, {1, 2}, -1, 3, dtype));
    EXPECT_GE(*std::min_element(x.begin(), x.end()), -1);
    EXPECT_LT(*std::max_element(x.begin(), x.end()), 3);
    EXPECT_LT(distance(x, [](double v) { return (v + 1) / 4; }), 1.95);
  }
}

TEST(Random, TruncatedNormalStaysWithinTwo) {
  const double p = std::erf(std::sqrt(2.0));
  for (const DType dtype : {DType::float32, DType::float64}) {
    const auto x = doubles(random::stateless_truncated_normal({kMany}, {5, 6}, 0, 1, dtype));
    EXPECT_GE(*std::min_element(x.begin(), x.end()), -2);
    EXPECT_LE(*std::max_element(x.begin(), x.end()), 2);
    EXPECT_LT(distance(x, [&](double v) { return (normal_cdf(v) - 0.5) / p + 0.5; }), 1.95);
  }
}

TEST(Random, IntegersCoverTheirRange) {
  for (const DType dtype : {DType::int8, DType::uint16, DType::int32, DType::int64}) {
    const bool is_signed_type = is_signed(dtype);
    const int64_t low = is_signed_type ? -3 : 2, high = low + 10;
    const Tensor t = random::stateless_uniform_int({100000}, {1, 1}, low, high, dtype);
    ASSERT_EQ(t.dtype(), dtype);
    std::vector<int> counts(10);
    for (const int64_t v : t.to_ints()) {
      ASSERT_GE(v, low);
      ASSERT_LT(v, high);
      ++counts[static_cast<size_t>(v - low)];
    }
    for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
  }
  const Tensor all =
      call("random_full_int", {Tensor::of<int32_t>({100000})}, {{"dtype", DType::int64}});
  int bits = 0;
  for (const int64_t v : all.values<int64_t>())
    bits += __builtin_popcountll(static_cast<uint64_t>(v));
  EXPECT_NEAR(bits, 3200000, 10000);
  const int64_t least = std::numeric_limits<int64_t>::min();
  const Tensor wide =
      random::uniform_int({1000}, least, std::numeric_limits<int64_t>::max(), DType::int64);
  EXPECT_LT(wide.data<int64_t>()[0], std::numeric_limits<int64_t>::max());
  EXPECT_THROW(random::uniform_int({3}, 5, 5), InvalidArgumentError);
}

TEST(Random, KnownAnswerOfPhilox) {
  // Philox 4x32-10 of key 0 and counter 0, from its authors' test vectors; the seeds are those
  // that TensorFlow's mixing makes zeros of.
  const Tensor seeds = Tensor::of<int64_t>({-6596576824765873063, 7908377869787822484});
  const Tensor t = call("stateless_random_full_int", {Tensor::of<int32_t>({64}), seeds},
                        {{"dtype", DType::uint32}});
  const uint32_t wanted[] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  for (int w = 0; w < 4; ++w) EXPECT_EQ(t.data<uint32_t>()[16 * w], wanted[w]);
}

TEST(Random, SameWhateverTheThreadsAndPieces) {
  const int before = num_threads();
  for (const DType dtype : {DType::float16, DType::float32, DType::float64}) {
    const Tensor whole = random::stateless_normal({200003}, {9, 9}, 1, 2, dtype);
    for (const int threads : {1, 2, 3}) {
      set_num_threads(threads);
      const Tensor again = random::stateless_normal({200003}, {9, 9}, 1, 2, dtype);
      EXPECT_EQ(std::memcmp(whole.raw_data(), again.raw_data(), whole.nbytes()), 0);
    }
    // A shorter draw is the start of a longer one.
    const Tensor part = random::stateless_normal({77}, {9, 9}, 1, 2, dtype);
    EXPECT_EQ(std::memcmp(whole.raw_data(), part.raw_data(), part.nbytes()), 0);
  }
  set_num_threads(before);
}

TEST(Random, LargeDrawsMatchSmallOnes) {
  // Beyond 16 MiB results are written around the caches.
  const Tensor large = random::stateless_normal({5000001}, {2, 3});
  const Tensor small = random::stateless_normal({1000}, {2, 3});
  EXPECT_EQ(std::memcmp(large.raw_data(), small.raw_data(), small.nbytes()), 0);
}

TEST(Random, GlobalSeedRepeats) {
  random::set_seed(42);
  const Tensor a = random::normal({100}), b = random::normal({100});
  const Tensor c = random::normal({10}, 0, 1, DType::float32, 5);
  const Tensor d = random::normal({10}, 0, 1, DType::float32, 5);
  EXPECT_NE(std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()), 0);
  EXPECT_NE(std::memcmp(c.raw_data(), d.raw_data(), c.nbytes()), 0);
  random::set_seed(42);
  const Tensor again = random::normal({100});
  EXPECT_EQ(std::memcmp(a.raw_data(), again.raw_data(), a.nbytes()), 0);
  const Tensor with_op_seed = random::normal({10}, 0, 1, DType::float32, 5);
  EXPECT_EQ(std::memcmp(c.raw_data(), with_op_seed.raw_data(), c.nbytes()), 0);
  random::set_seed(43);
  const Tensor other = random::normal({100});
  EXPECT_NE(std::memcmp(a.raw_data(), other.raw_data(), a.nbytes()), 0);
}

TEST(Random, ShuffleKeepsTheRows) {
  const Tensor t = Tensor::uninitialized(DType::int32, {1000, 2});
  for (int i = 0; i < 2000; ++i) t.mutable_data<int32_t>()[i] = i;
  const Tensor s = random::stateless_shuffle(t, {1, 2});
  std::vector<int> seen(1000);
  int moved = 0;
  for (int i = 0; i < 1000; ++i) {
    const int first = s.data<int32_t>()[2 * i];
    ASSERT_EQ(s.data<int32_t>()[2 * i + 1], first + 1);
    ++seen[static_cast<size_t>(first / 2)];
    moved += first != 2 * i;
  }
  EXPECT_EQ(*std::min_element(seen.begin(), seen.end()), 1);
  EXPECT_GT(moved, 980);
  // Each of the six orders of three rows is equally likely.
  const Tensor three = Tensor::of<int32_t>({0, 1, 2});
  std::vector<int> orders(27);
  for (int i = 0; i < 6000; ++i) {
    const Tensor o = random::stateless_shuffle(three, {i, 7});
    ++orders[static_cast<size_t>(o.data<int32_t>()[0] * 9 + o.data<int32_t>()[1] * 3 +
                                 o.data<int32_t>()[2])];
  }
  EXPECT_EQ(std::count_if(orders.begin(), orders.end(), [](int c) { return c > 0; }), 6);
  for (const int count : orders) EXPECT_TRUE(count == 0 || std::abs(count - 1000) < 150) << count;
  EXPECT_EQ(random::shuffle(Tensor(3)).item<int32_t>(), 3);
  EXPECT_EQ(random::shuffle(Tensor::uninitialized(DType::float32, {0, 3})).shape(), (Shape{0, 3}));
}

/// Mean and variance of many draws with parameters 0.3, 4 and 40.
void check_by_parameter(const char* op, DType dtype) {
  const Tensor parameters = Tensor::of<double>({0.3, 4, 40});
  const Tensor shape = Tensor::of<int64_t>({100000, 3}), seed = Tensor::of<int64_t>({4, 5});
  const Tensor t = std::string_view(op) == "stateless_random_gamma"
                       ? call(op, {shape, seed, parameters})
                       : call(op, {shape, seed, parameters}, {{"dtype", dtype}});
  const auto x = doubles(t);
  for (size_t p = 0; p < 3; ++p) {
    const double wanted = parameters.data<double>()[p];  // mean and variance, of both kinds
    double mean = 0, variance = 0;
    for (size_t i = p; i < x.size(); i += 3) mean += x[i] / 1e5;
    for (size_t i = p; i < x.size(); i += 3) variance += (x[i] - mean) * (x[i] - mean) / 1e5;
    EXPECT_NEAR(mean, wanted, 5 * std::sqrt(wanted / 1e5)) << op;
    EXPECT_NEAR(variance, wanted, 0.05 * wanted) << op;
  }
}

TEST(Random, GammaAndPoisson) {
  check_by_parameter("stateless_random_gamma", DType::float64);
  check_by_parameter("stateless_random_poisson", DType::float32);
  check_by_parameter("stateless_random_poisson", DType::int64);
  const Tensor shape = Tensor::of<int64_t>({2});
  const Tensor bad = call("random_gamma", {shape, Tensor::of<float>({-1, 0})});
  EXPECT_TRUE(std::isnan(bad.data<float>()[0]) && std::isnan(bad.data<float>()[1]));
  EXPECT_EQ(call("random_poisson", {shape, Tensor(0.f)}).data<float>()[1], 0);
  EXPECT_THROW(call("random_gamma", {shape, Tensor::of<float>({1, 2, 3})}), InvalidArgumentError);
}

TEST(Random, RejectionEndsForExtremeParameters) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor shape = Tensor::of<int32_t>({3, 8});
  const Tensor extreme =
      Tensor::of<double>({0, -1, std::nan(""), inf, 1e-300, 1e300, 1.7e308, 5e-324});
  const Tensor gamma = call("random_gamma", {shape, extreme});
  const Tensor counts = call("random_poisson", {shape, extreme}, {{"dtype", DType::float64}});
  const Tensor whole = call("random_poisson", {shape, extreme}, {{"dtype", DType::int32}});
  for (int64_t i = 0; i < gamma.num_elements(); ++i) {
    const double g = gamma.data<double>()[i], p = counts.data<double>()[i];
    EXPECT_EQ(std::isnan(g), i % 8 < 3) << i;
    EXPECT_EQ(std::isnan(p), i % 8 > 0 && i % 8 < 4) << i;
    EXPECT_EQ(std::isinf(g), i % 8 == 3) << i;
    const bool is_large = i % 8 == 5 || i % 8 == 6;
    EXPECT_EQ(whole.data<int32_t>()[i], is_large ? std::numeric_limits<int32_t>::max() : 0) << i;
  }
}

TEST(Random, EmptyScalarAndBadShapes) {
  EXPECT_EQ(random::normal({}).rank(), 0);
  EXPECT_EQ(random::normal({0, 4}).num_elements(), 0);
  EXPECT_THROW(call("random_normal", {Tensor::of<int32_t>({-2})}), InvalidArgumentError);
  EXPECT_THROW(
      call("stateless_random_normal", {Tensor::of<int32_t>({2}), Tensor::of<int32_t>({1, 2, 3})}),
      InvalidArgumentError);
  EXPECT_THROW(call("random_normal", {Tensor::of<int32_t>({2})}, {{"dtype", DType::int32}}),
               InvalidArgumentError);
}

}  // namespace
}  // namespace tidemark
