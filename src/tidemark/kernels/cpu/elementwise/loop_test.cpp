// The driver: broadcasting, blocks, half types, threads, writing in place.

#include <gtest/gtest.h>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/testing.h"

namespace tidemark {
namespace {

using namespace tidemark::testing;

std::vector<double> counting(int64_t n, int modulus = 97) {
  std::vector<double> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<double>(i % static_cast<size_t>(modulus));
  return v;
}

/// a + b by index arithmetic alone.
std::vector<double> added(const Tensor& a, const Tensor& b) {
  const Shape out = broadcast_shapes(a.shape(), b.shape());
  const std::vector<double> av = doubles(a), bv = doubles(b);
  std::vector<double> result;
  const auto at = [&](const Shape& shape, int64_t index) {
    int64_t offset = 0, stride = 1;
    for (int d = out.rank() - 1; d >= 0; --d) {
      const int64_t position = index % out[d];
      index /= out[d];
      const int own = d - (out.rank() - shape.rank());
      if (own < 0) continue;
      if (shape[own] != 1) offset += position * stride;
      stride *= shape[own];
    }
    return static_cast<size_t>(offset);
  };
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    result.push_back(av[at(a.shape(), i)] + bv[at(b.shape(), i)]);
  }
  return result;
}

TEST(Loop, Broadcasts) {
  struct Both {
    Shape a, b;
  };
  const std::vector<Both> cases = {{{}, {}},
                                   {{}, {5}},
                                   {{5}, {}},
                                   {{3, 4}, {4}},
                                   {{3, 4}, {3, 1}},
                                   {{3, 1}, {1, 4}},
                                   {{2, 1, 5}, {4, 1}},
                                   {{1, 1, 1}, {7}},
                                   {{2, 3, 4, 5}, {3, 1, 5}},
                                   {{2, 1, 4, 1, 3}, {5, 1, 2, 1}},
                                   {{6, 700}, {700}},
                                   {{700, 6}, {700, 1}},
                                   {{1, 3000}, {3, 1}},
                                   {{2, 2, 2, 2, 2, 2, 2, 2}, {2, 1, 2, 1, 2, 1, 2}},
                                   {{33, 1}, {1, 17}},
                                   {{0, 3}, {3}},
                                   {{3, 0}, {3, 1}},
                                   {{1}, {0}}};
  for (DType d : {DType::float32, DType::int64, DType::float16, DType::bfloat16, DType::uint8,
                  DType::complex128}) {
    for (const auto& [sa, sb] : cases) {
      SCOPED_TRACE(message(name_of(d), " ", sa, " ", sb));
      const Tensor a = tensor(d, counting(sa.num_elements(), 61), sa);
      const Tensor b = tensor(d, counting(sb.num_elements(), 53), sb);
      const Tensor y = call("add", {a, b});
      EXPECT_EQ(y.shape(), broadcast_shapes(sa, sb));
      EXPECT_EQ(doubles(y), added(a, b));
      EXPECT_EQ(doubles(call("add", {b, a})), added(b, a));
    }
  }
}

TEST(Loop, ShapesThatDoNotFitFail) {
  const Tensor a = tensor(DType::float32, counting(6), {2, 3});
  const Tensor b = tensor(DType::float32, counting(4), {4});
  EXPECT_THROW(call("add", {a, b}), InvalidArgumentError);
}

TEST(Loop, HalfTypesRoundOnceAndKeepSpecialValues) {
  for_each_level([] {
    const Tensor a = tensor(DType::float16, {2048, 65504, 6e-8, INFINITY, -0.0, 1, 2, 3, 4});
    const Tensor b = tensor(DType::float16, {1, 65504, 6e-8, -INFINITY, -0.0, 1, 2, 3, 4});
    const std::vector<double> y = doubles(call("add", {a, b}));
    EXPECT_EQ(y[0], 2048);  // 2049 lies between two: to even
    EXPECT_EQ(y[1], INFINITY);
    EXPECT_EQ(y[2], 0x1p-23);
    EXPECT_TRUE(std::isnan(y[3]));
    EXPECT_TRUE(std::signbit(y[4]));
    EXPECT_EQ(y[8], 8);
  });
}

class Threads {
 public:
  explicit Threads(int n) : old_(set_num_threads(n)) {}
  ~Threads() { set_num_threads(old_); }

 private:
  int old_;
};

TEST(Loop, ResultsDoNotDependOnThreads) {
  const int64_t n = 300'001;
  for (DType d : {DType::float32, DType::bfloat16, DType::complex64}) {
    const Tensor a = tensor(d, counting(n));
    const Tensor row = tensor(d, counting(1000), {1, 1000});
    const Tensor column = tensor(d, counting(301), {301, 1});
    Tensor one, many, one_wide, many_wide;
    {
      Threads threads(1);
      one = call("square", {a});
      one_wide = call("multiply", {row, column});
    }
    {
      Threads threads(3);
      many = call("square", {a});
      many_wide = call("multiply", {row, column});
    }
    EXPECT_EQ(doubles(one), doubles(many));
    EXPECT_EQ(doubles(one_wide), doubles(many_wide));
  }
}

TEST(Loop, LargeResultsAreWrittenPastTheCaches) {
  const int64_t n = (8 << 20) / 4 + 4099;
  for_each_level([&] {
    const Tensor a = tensor(DType::float32, counting(n));
    const Tensor plus_one = call("add", {a, Tensor(1.f)});
    const Tensor doubled = call("add", {a, a});
    const Tensor negated = call("negative", {a});
    const float* x = a.data<float>();
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i) {
      wrong += plus_one.data<float>()[i] != x[i] + 1;
      wrong += doubled.data<float>()[i] != x[i] * 2;
      wrong += negated.data<float>()[i] != -x[i];
    }
    EXPECT_EQ(wrong, 0);
  });
  const Tensor half = call("add", {tensor(DType::float16, counting(2 * n)), Tensor(1.f)});
  EXPECT_EQ(half.dtype(), DType::float32);
  const Tensor narrow = tensor(DType::float16, counting(2 * n));
  const Tensor sum = call("add", {narrow, narrow});
  const std::vector<double> expected = doubles(narrow);
  int64_t wrong = 0;
  const auto values = doubles(sum);
  for (size_t i = 0; i < values.size(); ++i) wrong += values[i] != 2 * expected[i];
  EXPECT_EQ(wrong, 0);
}

TEST(Loop, LargeBroadcastResults) {
  struct Both {
    Shape a, b;
  };
  const std::vector<Both> cases = {{{700'001, 3}, {3}},           {{700'001, 3}, {700'001, 1}},
                                   {{1021, 2053}, {2053}},        {{1021, 2053}, {1021, 1}},
                                   {{1021, 1}, {1, 2053}},        {{3, 100, 7001}, {100, 1}},
                                   {{1021, 257, 9}, {1021, 1, 9}}};
  for (DType d : {DType::float32, DType::float16}) {
    for (const auto& [sa, sb] : cases) {
      const Tensor a = tensor(d, counting(sa.num_elements(), 61), sa);
      const Tensor b = tensor(d, counting(sb.num_elements(), 53), sb);
      EXPECT_EQ(doubles(call("add", {a, b})), added(a, b)) << sa.to_string() << sb.to_string();
    }
  }
}

TEST(Loop, MayWriteIntoADyingInput) {
  const OpDef& add = OpRegistry::instance().get("add");
  for (DType d : {DType::float32, DType::float16, DType::int8}) {
    for (int which : {0, 1}) {
      const Shape big{7, 100}, small{1, 100};
      Tensor inputs[2] = {tensor(d, counting(700, 50), big), tensor(d, counting(100, 50), small)};
      if (which == 1) std::swap(inputs[0], inputs[1]);
      const std::vector<double> expected = added(inputs[0], inputs[1]);
      const void* memory = inputs[which].raw_data();
      Tensor y;
      dispatch({add, inputs, {}, 1ull << which}, {&y, 1});
      EXPECT_EQ(y.raw_data(), memory) << name_of(d);
      EXPECT_EQ(doubles(y), expected) << name_of(d);
    }
  }
}

}  // namespace
}  // namespace tidemark
