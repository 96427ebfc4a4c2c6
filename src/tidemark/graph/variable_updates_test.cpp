// Variables changed together: where new values go, who keeps old ones, what an error leaves.

#include "tidemark/graph/variable_updates.h"

#include <gtest/gtest.h>
#include <tidemark/error.h>

namespace tidemark::graph {
namespace {

/// Each variable becomes itself and the only input; a negative input is refused on the way.
class AddToAll final : public PureSpecial {
 public:
  std::string_view name() const override { return "add_to_all"; }
  void run(std::span<Tensor>, std::span<Tensor>) const override {}
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void*) const override {
    const float by = *inputs[0].data<float>();
    if (by < 0) fail<InvalidArgumentError>("negative");
    for (size_t i = 0; i < outputs.size(); ++i) {
      *outputs[i].mutable_data<float>() = *inputs[1 + i].data<float>() + by;
    }
  }

 private:
  bool equals(const Special&) const override { return true; }
};

float value(const Variable& v) { return *v.operand().data<float>(); }

class VariableUpdatesTest : public ::testing::Test {
 protected:
  void run(float by) {
    Tensor inputs[] = {Tensor(by)};
    updates_.run(inputs, {});
  }
  const Variable first_{Tensor(1.f)}, second_{Tensor(2.f)};
  const std::shared_ptr<const AddToAll> step_ = std::make_shared<const AddToAll>();
  const VariableUpdates updates_{{second_, first_}, step_};  // not in the order they are taken in
};

TEST_F(VariableUpdatesTest, AreWrittenWhereTheyLie) {
  const void* lies = first_.operand().raw_data();
  run(10.f);
  EXPECT_EQ(value(first_), 11.f);
  EXPECT_EQ(value(second_), 12.f);
  EXPECT_EQ(first_.operand().raw_data(), lies);
}

TEST_F(VariableUpdatesTest, WhoHoldsAnOldValueKeepsIt) {
  const Tensor held = second_.operand();
  run(10.f);
  EXPECT_EQ(*held.data<float>(), 2.f);
  EXPECT_EQ(value(second_), 12.f);
  EXPECT_EQ(value(first_), 11.f);
}

TEST_F(VariableUpdatesTest, AnErrorChangesNone) {
  const Tensor held = second_.operand();
  EXPECT_THROW(run(-1.f), InvalidArgumentError);
  EXPECT_EQ(value(first_), 1.f);
  EXPECT_EQ(value(second_), 2.f);
  run(1.f);
  EXPECT_EQ(value(first_), 2.f);
}

TEST_F(VariableUpdatesTest, SayWhatTheyAre) {
  EXPECT_EQ(updates_.effects().writes.size(), 2u);
  EXPECT_TRUE(updates_.effects().must_run);
  EXPECT_EQ(updates_.variable_updates(), &updates_);
  EXPECT_FALSE(updates_.is_device_code());
  EXPECT_TRUE(updates_.is_same(VariableUpdates({second_, first_}, std::make_shared<AddToAll>())));
  EXPECT_FALSE(updates_.is_same(VariableUpdates({first_, second_}, step_)));
}

}  // namespace
}  // namespace tidemark::graph
