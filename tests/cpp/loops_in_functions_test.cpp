// Conditions, loops and arrays in traced C++ functions, and their gradients.
#include <gtest/gtest.h>
#include <tidemark/tidemark.h>

namespace tidemark {
namespace {

using Inputs = std::span<const Tensor>;

/// results.append(x + i) for i in range(count), stacked.
Tensor accumulate(const Tensor& x, const Tensor& count) {
  const Array results(DType::float32, count);
  const std::vector<Tensor> end = while_loop(
      [&](Inputs v) { return less(v[0], count); },
      [&](Inputs v) {
        const Tensor row = x + call("cast", {v[0]}, {{"dtype", DType::float32}});
        return std::vector{v[0] + Tensor(1), results.with(v[1]).write(v[0], row).tensor()};
      },
      {Tensor(0), results.tensor()}, {.shapes = {Shape{}, Shape::unknown()}});
  return results.with(end[1]).stack();
}

TEST(LoopsInFunctions, FillAnArrayOfAnySize) {
  auto traced = function([](Tensor x, Tensor count) { return accumulate(x, count); });
  const Tensor x = Tensor::of({1.f, 2.f});
  for (const int32_t n : {3, 1, 1000}) {
    const Tensor y = traced(x, Tensor(n));
    ASSERT_EQ(y.shape(), (Shape{n, 2}));
    EXPECT_EQ(y.data<float>()[2 * n - 1], 1.f + static_cast<float>(n));
  }
  EXPECT_EQ(traced.traces().size(), 1u);
}

TEST(LoopsInFunctions, LeaveNothingBehind) {
  auto traced = function([](Tensor x, Tensor count) { return accumulate(x, count); });
  const Tensor x = Tensor::of({1.f, 2.f}), n(500);
  for (int i = 0; i < 2; ++i) traced(x, n);  // the second call compiles it
  const int64_t before = memory::stats().live;
  memory::reset_peak();
  for (int i = 0; i < 50; ++i) traced(x, n);
  EXPECT_EQ(memory::stats().live, before);
  EXPECT_LE(memory::stats().peak - before, 500 * 8 + 2048);  // the result, and a round's few blocks
}

TEST(LoopsInFunctions, AreDifferentiated) {
  auto gradient = function([](Tensor x, Tensor n) {
    GradientTape tape;
    tape.watch(x);
    const std::vector<Tensor> end = while_loop(
        [&](Inputs v) { return less(v[0], n); },
        [&](Inputs v) {
          const Tensor next = cond(
              greater(sum(v[1]), Tensor(100.f)), [&] { return v[1]; }, [&] { return v[1] * x; });
          return std::vector{v[0] + Tensor(1), next};
        },
        {Tensor(0), x});
    return tape.gradient(sum(end[1]), x);
  });
  const Tensor dx = gradient(Tensor::of({2.f, 3.f}), Tensor(2));
  EXPECT_FLOAT_EQ(dx.data<float>()[0], 12.f);
  EXPECT_FLOAT_EQ(dx.data<float>()[1], 27.f);
}

}  // namespace
}  // namespace tidemark
