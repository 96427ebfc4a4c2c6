#include <tidemark/create.h>
#include <tidemark/gradient.h>
#include <tidemark/memory.h>
#include <tidemark/ops.h>

#include <gtest/gtest.h>

#include "tidemark/autodiff/tape.h"
#include "tidemark/tensor/handlers.h"

namespace tidemark {
namespace {

TEST(GradientTape, DifferentiatesByTensorsAndVariables) {
  Variable w(Tensor::of({1.f, 2.f, 3.f}));
  const Tensor x = Tensor::of({4.f, 5.f, 6.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor loss = sum(w * x * x);
  const auto [dw, dx] = tape.gradient<2>(loss, {w, x});
  EXPECT_EQ(dw.values<float>()[2], 36.f);
  EXPECT_EQ(dx.values<float>()[1], 20.f);
  EXPECT_EQ(top_handler(), nullptr);
}

TEST(GradientTape, GivesNothingForWhatDoesNotConnect) {
  const Tensor x = Tensor::of({4.f}), other = Tensor::of({1.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = other * other;
  EXPECT_FALSE(tape.gradient(y, x));
}

TEST(GradientTape, CanBeAskedOnceUnlessPersistent) {
  const Tensor x = Tensor::of({4.f});
  GradientTape once, often({.persistent = true});
  once.watch(x);
  often.watch(x);
  const Tensor y = x * x;
  EXPECT_EQ(once.gradient(y, x).item<float>(), 8.f);
  EXPECT_THROW(once.gradient(y, x), InternalError);
  EXPECT_EQ(often.gradient(y, x).item<float>(), 8.f);
  EXPECT_EQ(often.gradient(y, x).item<float>(), 8.f);
}

TEST(GradientTape, NestsForHigherOrders) {
  const Tensor x = Tensor::of({3.f});
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor y = x * x * x;
  const Tensor first = inner.gradient(y, x);
  EXPECT_EQ(first.item<float>(), 27.f);
  EXPECT_EQ(outer.gradient(first, x).item<float>(), 18.f);
}

TEST(GradientTape, SeesThroughOpsThatWriteIntoTheirInput) {
  const Tensor x = Tensor::of({3.f, 4.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = ((x * 2.f) + 1.f) * x;
  EXPECT_EQ(tape.gradient(y, x).values<float>()[1], 17.f);
}

TEST(GradientTape, TakesAReadingFromBeforeTheTapeAsAConstant) {
  Variable v(Tensor::of({3.f}));
  const Tensor before = v.value();
  GradientTape tape;
  const Tensor y = v * before;
  EXPECT_EQ(tape.gradient(y, v).item<float>(), 3.f);
}

TEST(GradientTape, AddsUpReadingsOfAVariableThatChanges) {
  Variable v(Tensor::of({3.f}));
  GradientTape tape;
  Tensor y = v * v;
  v.assign_add(Tensor::of({2.f}));
  y = y + v * v;
  EXPECT_EQ(tape.gradient(y, v).item<float>(), 16.f);
}

TEST(Tape, ReleasesWhatItPasses) {
  constexpr int kLayers = 20;
  const Tensor x = ones({64, 1024});
  const int64_t before = memory::stats().live;
  GradientTape tape;
  tape.watch(x);
  Tensor y = x;
  for (int i = 0; i < kLayers; ++i) y = tanh(y);
  const int64_t forward = memory::stats().live - before;
  memory::reset_peak();
  const Tensor dx = tape.gradient(y, x);
  const int64_t layer = static_cast<int64_t>(x.nbytes());
  EXPECT_GE(forward, kLayers * layer);
  EXPECT_LE(memory::stats().peak - before, forward + 4 * (layer + 8192));
  EXPECT_LE(memory::stats().live - before, 2 * (layer + 8192) + 4096);
}

TEST(Tape, KeepsOnlyWhatGradientsNeed) {
  const Tensor x = ones({1024});
  autodiff::Tape tape;
  HandlerScope scope(tape);
  tape.watch(x);
  Tensor y = x + x;
  EXPECT_EQ(tape.kept_bytes(), 0);
  EXPECT_EQ(tape.num_entries(), 1u);
  y = y * y;
  EXPECT_GE(tape.kept_bytes(), 4096);
  EXPECT_LT(tape.kept_bytes(), 8192);
}

int64_t tape_bytes() {
  for (const auto& use : memory::holders()) {
    if (use.holder == "tape") return use.live_bytes;
  }
  return 0;
}

TEST(Tape, IsListedAsTheHolderOfWhatItKeeps) {
  const Tensor x = ones({1024});
  const int64_t before = tape_bytes();
  {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = tanh(exp(x));
    EXPECT_GE(tape_bytes() - before, 2 * 4096);
    tape.gradient(y, x);
    EXPECT_EQ(tape_bytes(), before);
    GradientTape dropped;
    dropped.watch(x);
    exp(x);
  }
  EXPECT_EQ(tape_bytes(), before);
  EXPECT_TRUE(x.is_unique());
}

TEST(Tape, KeepsGradientsOfGatherAsRows) {
  const Tensor table = ones({100, 4});
  const Tensor rows = Tensor::of({7, 3, 7});
  autodiff::Tape tape({.persistent = true});
  Tensor y;
  {
    HandlerScope scope(tape);
    tape.watch(table);
    y = call("gather", {table, rows});
  }
  const uint64_t id = table.impl()->id;
  auto adjoint = tape.gradient(Borrowed<1>(y).span(), {&id, 1}, {})[0];
  ASSERT_TRUE(adjoint.is_sparse());
  EXPECT_EQ(adjoint.values.shape(), (Shape{3, 4}));
  const Tensor all = dense(std::move(adjoint));
  EXPECT_EQ(all.shape(), (Shape{100, 4}));
  EXPECT_EQ(all.values<float>()[7 * 4], 2.f);
  EXPECT_EQ(all.values<float>()[3 * 4], 1.f);
}

TEST(Tape, IsNotDeepenedByLongChains) {
  const Tensor x = Tensor::of({1.f});
  GradientTape tape;
  tape.watch(x);
  Tensor y = x;
  for (int i = 0; i < 200000; ++i) y = y + x;
  EXPECT_EQ(tape.gradient(y, x).item<float>(), 200001.f);
}

TEST(RecordingPause, HidesCallsFromTapesBelow) {
  const Tensor x = Tensor::of({2.f});
  GradientTape tape;
  tape.watch(x);
  autodiff::RecordingPause pause;
  Tensor hidden;
  {
    HandlerScope scope(pause);
    hidden = x * x;
  }
  EXPECT_EQ(tape.gradient(hidden + x * x, x).item<float>(), 4.f);
}

}  // namespace
}  // namespace tidemark
