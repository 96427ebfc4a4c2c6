// What a comparison with Keras (tests/python/test_cpp_keras.py) does not say of optimizers.
#include <gtest/gtest.h>
#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/function.h>
#include <tidemark/gradient.h>
#include <tidemark/memory.h>
#include <tidemark/nn.h>
#include <tidemark/optimizers.h>
#include <tidemark/random.h>

namespace tidemark::optimizers {
namespace {

/// A step of training of two layers, as a function of a batch.
struct Training {
  nn::Sequential model{nn::Dense(256, {.activation = "relu"}), nn::Dense(10)};
  Tensor x = random::stateless_normal({32, 128}, {1, 2});
  Tensor y = random::stateless_normal({32, 10}, {3, 4});

  template <class O>
  auto step(const O& optimizer) {
    model(x);
    return function([this, optimizer](Tensor batch, Tensor wanted) {
      GradientTape tape;
      const Tensor loss = losses::MeanSquaredError()(wanted, model(batch));
      optimizer.apply(tape.gradient(loss, model.parameters()), model.parameters());
      return loss;
    });
  }
};

template <class O>
void expect_learns(const O& optimizer) {
  Training training;
  auto step = training.step(optimizer);
  const float first = step(training.x, training.y).template item<float>();
  float last = first;
  for (int i = 0; i < 60; ++i) last = step(training.x, training.y).template item<float>();
  EXPECT_LT(last, 0.8f * first);
  EXPECT_EQ(step.traces().size(), 1u);
}

TEST(Optimizer, AllLearnInAFunction) {
  expect_learns(SGD({.learning_rate = 0.05, .momentum = 0.9}));
  expect_learns(Adam());
  expect_learns(AdamW());
  expect_learns(RMSprop());
  expect_learns(Adagrad({.learning_rate = 0.05}));
  expect_learns(Lion({.learning_rate = 1e-3}));
  expect_learns(Adafactor({.learning_rate = 0.5}));
}

/// Moments and weights are changed where they lie: what the plan takes beside them is no more than
/// what it takes for the gradients alone.
TEST(Optimizer, APlanHasNoCopiesOfMoments) {
  Training plain, adam;
  plain.model(plain.x);
  auto gradients = function([&](Tensor x, Tensor y) {
    GradientTape tape;
    const Tensor loss = losses::MeanSquaredError()(y, plain.model(x));
    return tape.gradient(loss, plain.model.parameters());
  });
  auto step = adam.step(Adam());
  step(adam.x, adam.y);
  const PlanReport alone = gradients.plan(plain.x, plain.y);
  const PlanReport whole = step.plan(adam.x, adam.y);
  const int64_t weights = 4 * (128 * 256 + 256 + 256 * 10 + 10);
  EXPECT_LE(whole.peak, alone.peak);
  EXPECT_GE(whole.variables, 3 * weights);
  EXPECT_LT(whole.variables, 3 * weights + 100);
}

TEST(Optimizer, StaysFlat) {
  Training training;
  const Adam adam({.common = {.use_ema = true}});
  auto step = training.step(adam);
  const auto eager = [&] {
    GradientTape tape;
    const Tensor loss = mean(square(training.model(training.x) - training.y));
    adam.apply(tape.gradient(loss, training.model.parameters()), training.model.parameters());
  };
  for (int i = 0; i < 3; ++i) {
    eager();
    step(training.x, training.y);
  }
  const int64_t before = memory::stats().live;
  for (int i = 0; i < 50; ++i) {
    eager();
    step(training.x, training.y);
  }
  EXPECT_EQ(memory::stats().live, before);
}

TEST(Optimizer, AdafactorKeepsRowsAndColumns) {
  Variable w(ones({64, 32}));
  const Adafactor optimizer;
  optimizer.apply({ones({64, 32})}, {w});
  int64_t elements = 0;
  for (const Variable& one : optimizer.variables()) elements += one.shape().num_elements();
  EXPECT_EQ(elements, 2 + 64 + 32);
}

TEST(Optimizer, BadStepsChangeNothing) {
  Variable w(ones({2})), other(ones({2}));
  const SGD sgd;
  EXPECT_THROW(sgd.apply({}, {w}), InvalidArgumentError);
  EXPECT_THROW(sgd.apply({Tensor()}, {w}), InvalidArgumentError);
  sgd.apply({ones({2})}, {w});
  EXPECT_THROW(sgd.apply({ones({2})}, {other}), InvalidArgumentError);
  EXPECT_EQ(sgd.iterations().value().item<int64_t>(), 1);
  EXPECT_EQ(other.value().data<float>()[0], 1.f);
}

TEST(Optimizer, TheRateIsSetUnlessAScheduleSetsIt) {
  const SGD by_number({.learning_rate = 0.5});
  by_number.set_learning_rate(0.25);
  EXPECT_EQ(by_number.learning_rate().item<float>(), 0.25f);
  const SGD by_schedule({.learning_rate = schedules::ExponentialDecay(0.5, 1, 0.5)});
  EXPECT_THROW(by_schedule.set_learning_rate(0.25), FailedPreconditionError);
  EXPECT_THROW(schedules::CosineDecay(0.1, 0), InvalidArgumentError);
  EXPECT_THROW(schedules::PiecewiseConstantDecay({1}, {0.1}), InvalidArgumentError);
}

TEST(Optimizer, AStepThatIsNotFiniteIsLeftOut) {
  Variable w(ones({2}));
  const SGD sgd(
      {.learning_rate = 1, .common = {.dynamic_scale_growth_steps = 2, .initial_scale = 4}});
  auto step = function([&](Tensor gradient) { sgd.apply({gradient}, {w}); });
  const auto scale = [&] { return sgd.scale_loss(Tensor(1.f)).item<float>(); };
  EXPECT_EQ(scale(), 4.f);
  step(full({2}, std::numeric_limits<float>::infinity()));
  EXPECT_EQ(scale(), 2.f);
  EXPECT_EQ(w.value().data<float>()[0], 1.f);
  EXPECT_EQ(sgd.iterations().value().item<int64_t>(), 0);
  step(full({2}, 1.f));  // a half, once it is divided by the scale
  EXPECT_EQ(w.value().data<float>()[0], 0.5f);
  step(full({2}, 1.f));
  EXPECT_EQ(scale(), 4.f);  // two good ones in a row
  EXPECT_EQ(sgd.iterations().value().item<int64_t>(), 2);
  EXPECT_THROW(SGD({.common = {.dynamic_scale_growth_steps = -1}}), InvalidArgumentError);
}

TEST(Optimizer, NoAverageIsAnError) {
  Variable w(ones({2}));
  EXPECT_THROW(SGD().average_of(w), NotFoundError);
}

}  // namespace
}  // namespace tidemark::optimizers
