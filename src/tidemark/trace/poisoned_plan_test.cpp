// Plans that are wrong in a way that luck would hide: the dead bytes of an arena give them away.
#include <gtest/gtest.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>
#include <tidemark/random.h>

#include <algorithm>
#include <cmath>

#include "tidemark/exec/executable.h"
#include "tidemark/memory/testing.h"
#include "tidemark/plan/graph_plan.h"
#include "tidemark/trace/builder.h"

namespace tidemark::trace {
namespace {

using exec::Executable;

class Poisoned : public ::testing::Test {
 protected:
  Poisoned() : before_(memory::testing::set_poison(true)) {}
  ~Poisoned() override { memory::testing::set_poison(before_); }

 private:
  bool before_;
};

/// matmul(matmul(x, x), x) + matmul(x, x): the first product is needed twice.
std::shared_ptr<graph::Graph> products() {
  GraphBuilder builder("products");
  const Tensor x = builder.add_input(DType::float32, {16, 16});
  const TraceScope scope(builder);
  const Tensor first = matmul(x, x);
  return builder.finish(std::vector{matmul(matmul(first, x) + first, x)});
}

int64_t count_nans(const Executable& executable) {
  std::vector<Tensor> inputs{random::normal({16, 16})}, outputs(1);
  executable.run(inputs, outputs);
  const float* data = outputs[0].data<float>();
  return std::count_if(data, data + outputs[0].num_elements(),
                       [](float x) { return std::isnan(x); });
}

TEST_F(Poisoned, GoodPlansDoNotTouchTheDead) {
  const auto graph = products();
  const plan::GraphPlan plan = plan::plan_graph(*graph);
  const Executable executable(*graph, plan);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(count_nans(executable), 0);
}

TEST_F(Poisoned, AValueThatDiesTooSoonIsSeen) {
  const auto graph = products();
  plan::GraphPlan plan = plan::plan_graph(*graph);
  // The first product is said to be done with after the step that makes it.
  const auto first =
      std::find_if(plan.values.begin(), plan.values.end(), [](const plan::PlannedValue& v) {
        return v.place == plan::Place::arena && v.takes_over == plan::kNone && v.first < v.last;
      });
  ASSERT_NE(first, plan.values.end());
  first->last = first->first;
  const Executable executable(*graph, plan);
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_DEATH(count_nans(executable), "use-after-poison");
#else
  EXPECT_GT(count_nans(executable), 0);
#endif
}

}  // namespace
}  // namespace tidemark::trace
