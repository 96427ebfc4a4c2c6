#include <tidemark/create.h>
#include <tidemark/memory.h>
#include <tidemark/ops.h>
#include <tidemark/variable.h>

#include <gtest/gtest.h>

#include <thread>

namespace tidemark {
namespace {

int64_t variable_bytes() {
  for (const auto& use : memory::holders()) {
    if (use.holder == "variable") return use.live_bytes;
  }
  return 0;
}

TEST(Variable, IsUpdatedInPlace) {
  Variable v(zeros({1024}));
  const void* address = v.operand().raw_data();
  const Tensor delta = ones({1024});
  const int64_t allocations = memory::stats().allocations;
  v.assign_add(delta);
  v.assign_add(delta);
  v.assign_sub(delta);
  EXPECT_EQ(memory::stats().allocations, allocations);
  EXPECT_EQ(v.operand().raw_data(), address);
  EXPECT_EQ(v.operand().values<float>()[5], 1.f);
}

TEST(Variable, NeverChangesWhatWasReadBefore) {
  Variable v(ones({4}));
  const Tensor before = v.value();
  v.assign_add(ones({4}));
  EXPECT_EQ(before.values<float>()[0], 1.f);
  EXPECT_EQ(v.value().values<float>()[0], 2.f);
}

TEST(Variable, DoesNotChangeWhatWasAssigned) {
  Variable v(zeros({4}));
  const Tensor given = ones({4});
  v.assign(given);
  v.assign_add(given);
  EXPECT_EQ(given.values<float>()[0], 1.f);
  EXPECT_EQ(v.value().values<float>()[0], 2.f);
}

TEST(Variable, IsListedAsAHolderAndReleased) {
  const int64_t before = variable_bytes();
  {
    Variable v(zeros({1 << 16}));
    EXPECT_GE(variable_bytes() - before, 1 << 18);
    v.assign(ones({1 << 16}));
    EXPECT_LT(variable_bytes() - before, (1 << 18) + 8192);
  }
  EXPECT_EQ(variable_bytes(), before);
}

TEST(Variable, RefusesOtherDtypesAndShapes) {
  Variable v(zeros({4}), {.name = "w"});
  EXPECT_THROW(v.assign(zeros({5})), InvalidArgumentError);
  EXPECT_THROW(v.assign(zeros({4}, DType::float64)), InvalidArgumentError);
  EXPECT_THROW(v.assign_add(zeros({1})), InvalidArgumentError);
  EXPECT_EQ(v.value().shape(), (Shape{4}));
  EXPECT_THROW(Variable(zeros({4}), {.shape = Shape{5}}), InvalidArgumentError);
}

TEST(Variable, TakesSizesLeftOpen) {
  Variable v(zeros({4}), {.shape = Shape{kUnknownDim}});
  v.assign(zeros({7}));
  EXPECT_EQ(v.value().shape(), (Shape{7}));
  EXPECT_EQ(v.shape(), (Shape{kUnknownDim}));
  EXPECT_THROW(v.assign(zeros({7, 1})), InvalidArgumentError);
}

TEST(Variable, ScattersInPlace) {
  Variable v(zeros({8}));
  const void* address = v.operand().raw_data();
  const Tensor rest[] = {Tensor::of({1, 3}, {2, 1}), Tensor::of({5.f, 6.f})};
  v.update("tensor_scatter_nd_update", rest);
  EXPECT_EQ(v.operand().raw_data(), address);
  EXPECT_EQ(v.value().values<float>()[3], 6.f);
  EXPECT_THROW(v.update("tensor_scatter_nd_update", std::span(rest, 1)), Error);
  EXPECT_EQ(v.value().values<float>()[3], 6.f);
}

TEST(Variable, LosesNoUpdateOfSeveralThreads) {
  Variable v(zeros({16}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        v.assign_add(ones({16}));
        const Tensor seen = v.value();
        EXPECT_EQ(seen.values<float>()[0], seen.values<float>()[15]);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(v.value().values<float>()[7], 2000.f);
}

}  // namespace
}  // namespace tidemark
