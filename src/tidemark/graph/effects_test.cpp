#include "tidemark/graph/effects.h"

#include <gtest/gtest.h>

#include "tidemark/graph/graph.h"
#include "tidemark/graph/specials.h"

namespace tidemark::graph {
namespace {

using Steps = std::vector<int>;

/// A step that nobody knows: calls of one group of processes, each of which waits for its likes.
class Collective final : public Special {
 public:
  Collective(uint64_t group, int root) : group_(group), root_(root) {}
  std::string_view name() const override { return "collective"; }
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override {
    outputs[0] = inputs[0];
  }
  Effects effects() const override { return {.token = group_, .must_run = true}; }

 private:
  bool equals(const Special& other) const override {
    const auto& that = static_cast<const Collective&>(other);
    return that.group_ == group_ && that.root_ == root_;
  }

  uint64_t group_;
  int root_;
};

/// Says nothing of itself.
class Silent final : public Special {
 public:
  std::string_view name() const override { return "silent"; }
  void run(std::span<Tensor>, std::span<Tensor>) const override {}
};

struct Two {
  Variable a{Tensor(1.f)}, b{Tensor(2.f)};
  Effects read(const Variable& v) const { return {.reads = {&v, 1}}; }
  Effects write(const Variable& v) const { return {.writes = {&v, 1}, .must_run = true}; }
};
constexpr Effects kDraw{.draws = true, .must_run = true};
constexpr Effects kBarrier{.is_barrier = true};
constexpr Effects kFirstGroup{.token = 1, .must_run = true};
constexpr Effects kSecondGroup{.token = 2, .must_run = true};

TEST(Effects, SilenceIsTakenForTheWorst) {
  const Effects effects = Silent().effects();
  EXPECT_TRUE(effects.is_barrier);
  EXPECT_FALSE(effects.is_pure());
  EXPECT_FALSE(effects.may_change_variables());  // nobody would run it then
  EXPECT_TRUE(Silent().keeps_inputs());
  EXPECT_FALSE(Silent().computes());
  EXPECT_FALSE(Silent().may_write_into(0, 0));
}

TEST(Effects, OneEffectIsNotPure) {
  const Two v;
  EXPECT_TRUE(Effects{}.is_pure());
  for (const Effects& effects : {v.read(v.a), v.write(v.a), kDraw, kBarrier, kFirstGroup,
                                 Effects{.must_run = true}, Effects{.needs_record = true}}) {
    EXPECT_FALSE(effects.is_pure());
  }
}

TEST(Effects, ReadingsAndUpdatesTellTheirVariable) {
  const Variable v(Tensor(1.f), {.name = "v"});
  const ReadVariable read(v);
  EXPECT_EQ(*read.shown_variable(), v);
  EXPECT_FALSE(read.update());
  EXPECT_TRUE(read.effects().touches_variables());
  EXPECT_FALSE(read.effects().may_change_variables());
  const UpdateVariable assign({.variable = v, .attrs = {}});
  ASSERT_TRUE(assign.update());
  EXPECT_TRUE(assign.update()->is_assignment());
  EXPECT_TRUE(assign.effects().changes(v));
  EXPECT_FALSE(assign.effects().changes(Variable(Tensor(1.f))));
  EXPECT_TRUE(assign.effects().must_run);
  EXPECT_EQ(assign.describe(), "update_variable 'v' by assign");
}

TEST(Effects, OnlyTheSameClassIsTheSame) {
  const Collective one(1, 0), again(1, 0), other_root(1, 1);
  EXPECT_TRUE(one.is_same(again));
  EXPECT_FALSE(one.is_same(other_root));
  EXPECT_FALSE(one.is_same(Silent()));
  EXPECT_FALSE(Silent().is_same(Silent()));  // unless it says what makes it the same
  const Silent silent;
  EXPECT_TRUE(silent.is_same(silent));
}

TEST(EffectOrder, UpdatesWaitForReadersAndForTheUpdateBefore) {
  const Two v;
  EffectOrder order;
  EXPECT_EQ(order.add(0, v.read(v.a)), Steps{});
  order.use(v.a.id(), 1);
  EXPECT_EQ(order.add(1, {}), Steps{});
  EXPECT_EQ(order.add(2, v.write(v.a)), (Steps{0, 1}));
  EXPECT_EQ(order.add(3, v.write(v.b)), Steps{});
  EXPECT_EQ(order.add(4, v.read(v.a)), Steps{2});
  EXPECT_EQ(order.add(5, v.write(v.a)), (Steps{2, 4}));
}

TEST(EffectOrder, AnUpdateDoesNotWaitForItself) {
  const Two v;
  EffectOrder order;
  order.add(0, v.read(v.a));
  order.use(v.a.id(), 1);
  EXPECT_EQ(order.add(1, v.write(v.a)), Steps{0});
}

TEST(EffectOrder, TellsWhetherAReadingIsOld) {
  const Two v;
  EffectOrder order;
  EXPECT_EQ(order.last_change(v.a.id()), EffectOrder::kNone);
  order.add(0, v.read(v.a));
  EXPECT_EQ(order.last_change(v.a.id()), EffectOrder::kNone);
  order.add(1, v.write(v.a));
  EXPECT_EQ(order.last_change(v.a.id()), 1);
  EXPECT_EQ(order.last_change(v.b.id()), EffectOrder::kNone);
  order.add(2, kBarrier);
  EXPECT_EQ(order.last_change(v.a.id()), 2);
  EXPECT_EQ(order.last_change(v.b.id()), 2);
}

TEST(EffectOrder, DrawsStayInOrderAmongThemselves) {
  const Two v;
  EffectOrder order;
  order.add(0, kDraw);
  EXPECT_EQ(order.add(1, v.write(v.a)), Steps{});
  EXPECT_EQ(order.add(2, kDraw), Steps{0});
}

TEST(EffectOrder, NoEffectMovesAcrossABarrier) {
  const Two v;
  EffectOrder order;
  order.add(0, v.read(v.a));
  order.use(v.a.id(), 1);
  order.add(1, {});
  order.add(2, v.write(v.b));
  order.add(3, kDraw);
  order.add(4, kFirstGroup);
  order.add(5, {});
  EXPECT_EQ(order.add(6, kBarrier), (Steps{0, 1, 2, 3, 4}));
  EXPECT_EQ(order.add(7, {}), Steps{});
  EXPECT_EQ(order.add(8, v.read(v.a)), Steps{6});
  EXPECT_EQ(order.add(9, v.write(v.b)), Steps{6});
  EXPECT_EQ(order.add(10, kDraw), Steps{6});
  EXPECT_EQ(order.add(11, kFirstGroup), Steps{6});
  EXPECT_EQ(order.add(12, kBarrier), (Steps{6, 8, 9, 10, 11}));
  EXPECT_EQ(order.add(13, kBarrier), Steps{12});
}

TEST(EffectOrder, WhatUsesAnOldReadingHoldsUpTheNextBarrier) {
  const Two v;
  EffectOrder order;
  order.add(0, v.read(v.a));
  order.add(1, kBarrier);
  order.use(v.a.id(), 2);
  EXPECT_EQ(order.add(2, {}), Steps{});
  EXPECT_EQ(order.add(3, kBarrier), (Steps{1, 2}));
}

TEST(EffectOrder, StepsWithOneTokenStayInOrder) {
  const Two v;
  EffectOrder order;
  EXPECT_EQ(order.add(0, kFirstGroup), Steps{});
  EXPECT_EQ(order.add(1, kSecondGroup), Steps{});
  EXPECT_EQ(order.add(2, kDraw), Steps{});
  EXPECT_EQ(order.add(3, kFirstGroup), Steps{0});
  EXPECT_EQ(order.add(4, kSecondGroup), Steps{1});
  EXPECT_EQ(order.add(5, kFirstGroup), Steps{3});
}

TEST(EffectOrder, AStepMayHaveSeveralEffects) {
  const Two v;
  EffectOrder order;
  order.add(0, v.read(v.a));
  order.add(1, v.write(v.b));
  order.add(2, kDraw);
  order.add(3, kFirstGroup);
  Effects all = v.write(v.a);
  all.reads = {&v.b, 1};
  all.draws = true;
  all.token = 1;
  EXPECT_EQ(order.add(4, all), (Steps{0, 1, 2, 3}));
}

}  // namespace
}  // namespace tidemark::graph
