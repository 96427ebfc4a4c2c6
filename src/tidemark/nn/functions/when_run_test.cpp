#include "tidemark/nn/functions/when_run.h"

#include <gtest/gtest.h>
#include <tidemark/composed.h>
#include <tidemark/create.h>
#include <tidemark/debugging.h>
#include <tidemark/function.h>
#include <tidemark/gradient.h>
#include <tidemark/memory.h>
#include <tidemark/ops.h>
#include <tidemark/random.h>

namespace tidemark::nn {
namespace {

/// As many ones as the number says.
Tensor ones_as_many(const Tensor& x) {
  return when_run(
      "ones_as_many",
      [](const std::vector<Tensor>& given) { return std::vector{ones({given[0].to_ints()[0]})}; },
      {x}, {{DType::float32, {kUnknownDim}}})[0];
}

TEST(WhenRun, ATracedFunctionAsksInEveryRun) {
  auto total = function([](const Tensor& x) { return sum(ones_as_many(x) * 2.f); });
  for (const int32_t count : {3, 5, 0}) {
    EXPECT_EQ(total(Tensor(count)).item<float>(), 2.f * static_cast<float>(count));
  }
  EXPECT_EQ(total.traces().size(), 1u);
  EXPECT_EQ(ones_as_many(Tensor(4)).shape(), Shape{4});
}

TEST(WhenRun, GradientsDoNotGoThrough) {
  const Tensor x(2.f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x * sum(ones_as_many(cast(x, DType::int32)));
  EXPECT_EQ(tape.gradient(y, x).item<float>(), 8.f);
}

TEST(WhenRun, ErrorsComeFromTheRun) {
  auto checked = function([](const Tensor& x) {
    debugging::assert_less(x, Tensor(3.f), {.message = "too large"});
    return x * 2.f;
  });
  EXPECT_EQ(checked(Tensor(2.f)).item<float>(), 4.f);
  try {
    checked(Tensor(3.f));
    FAIL() << "nothing was thrown";
  } catch (const InvalidArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("too large"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("x < y"), std::string::npos);
  }
  EXPECT_EQ(checked(Tensor(1.f)).item<float>(), 2.f);
  EXPECT_THROW(debugging::assert_equal(Tensor(1), Tensor(2)), InvalidArgumentError);
  EXPECT_THROW(debugging::assert_rank(Tensor(1), 1), InvalidArgumentError);
  EXPECT_NO_THROW(debugging::assert_non_negative(Tensor(0.f)));
  EXPECT_THROW(debugging::assert_all_finite(Tensor(1.f) / 0.f), InvalidArgumentError);
}

TEST(WhenRun, RunsStayFlat) {
  const random::Generator own = random::Generator::from_seed(1);
  auto step = function([&](const Tensor& x) {
    return cast(fingerprint(expand_dims(x, 0)), DType::float32) + sum(own.normal({8}));
  });
  const Tensor x = ones({64});
  for (int i = 0; i < 3; ++i) step(x);
  const int64_t before = memory::stats().live;
  for (int i = 0; i < 200; ++i) step(x);
  EXPECT_EQ(memory::stats().live, before);
}

}  // namespace
}  // namespace tidemark::nn
