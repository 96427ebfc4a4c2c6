// What definitions say about their ops, and which of it is refused.
#include <tidemark/rows.h>

#include <gtest/gtest.h>

#include <map>

namespace tidemark {

namespace {

const OpDef& op(const char* name) { return OpRegistry::instance().get(name); }

OpDef&& unary(OpDef&& op) {
  return std::move(op).input("x", kFloats).output("y", like("x")).shape([](InferContext& c) {
    c.set(0, c.shape(0));
  });
}

}  // namespace

TEST(OpFacts, ElementwiseOpsAreCheapUnlessHeavy) {
  EXPECT_TRUE(op("add").is_cheap());
  EXPECT_TRUE(op("add").works_on_elements());
  EXPECT_TRUE(op("concat").is_cheap());
  EXPECT_FALSE(op("concat").works_on_elements());
  EXPECT_FALSE(op("matmul").is_cheap());
  EXPECT_FALSE(op("random_uniform").is_cheap());
}

TEST(OpFacts, QuotientsFailOnIntegersAlone) {
  EXPECT_TRUE(op("floordiv").may_fail(DType::int32));
  EXPECT_FALSE(op("floordiv").may_fail(DType::float32));
  EXPECT_FALSE(op("add").may_fail(DType::int32));
}

TEST(OpFacts, ReductionsAndAxes) {
  EXPECT_EQ(op("sum").reduction_kind(), ReductionKind::sum);
  EXPECT_EQ(op("std").reduction_kind(), ReductionKind::other);
  EXPECT_EQ(op("add").reduction_kind(), ReductionKind::none);
  EXPECT_TRUE(op("softmax").is_along_axis());
  EXPECT_EQ(op("softmax").axis_unless_given(), -1);
  EXPECT_EQ(op("argmax").axis_unless_given(), 0);
  EXPECT_FALSE(op("add").is_along_axis());
}

TEST(OpFacts, NamesOfTensorFlow) {
  const ForeignOp* sum = op("sum").foreign(Vocabulary::tensorflow);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->name, "Sum");
  EXPECT_EQ(sum->inputs, (std::vector<std::string>{"input_tensor", "axis"}));
  EXPECT_EQ(sum->attrs,
            (std::vector<std::pair<std::string, std::string>>{{"keep_dims", "keepdims"}}));
  const ForeignOp* add = op("add").foreign(Vocabulary::tensorflow);
  ASSERT_TRUE(add);
  EXPECT_EQ(add->name, "AddV2");
  EXPECT_EQ(add->label, "add");
  EXPECT_EQ(add->inputs, (std::vector<std::string>{"x", "y"}));  // left out: ours
  EXPECT_FALSE(op("gelu").foreign(Vocabulary::tensorflow));
  EXPECT_FALSE(op("softmax_grad").foreign(Vocabulary::onnx));
}

TEST(OpFacts, NamesOfOnnxAreUniqueAndFound) {
  OpRegistry& registry = OpRegistry::instance();
  std::map<std::string, std::string> ours;
  for (const OpDef* def : registry.all()) {
    const ForeignOp* onnx = def->foreign(Vocabulary::onnx);
    if (!onnx) continue;
    EXPECT_TRUE(ours.emplace(onnx->name, def->name()).second) << onnx->name;
    EXPECT_EQ(registry.find(Vocabulary::onnx, onnx->name), def);
  }
  EXPECT_GT(ours.size(), 60u);
  EXPECT_EQ(ours["Add"], "add");
  EXPECT_EQ(ours["MatMul"], "matmul");
  EXPECT_EQ(ours["ReduceMax"], "max");
}

TEST(OpFacts, NamesOfTwoVocabularies) {
  const OpDef& both = OpRegistry::instance().add(unary(OpDef("op_facts_test_both"))
                                                     .attr("n", AttrKind::integer, 1)
                                                     .tensorflow("Theirs", {}, "n")
                                                     .onnx("Others", {}, "count=n"));
  EXPECT_EQ(both.foreign(Vocabulary::tensorflow)->attrs[0].first, "n");
  EXPECT_EQ(both.foreign(Vocabulary::onnx)->attrs[0].first, "count");
  EXPECT_EQ(both.foreign(Vocabulary::onnx)->label, "Others");
}

TEST(OpFacts, OpsAreFoundByNamesOfTensorFlow) {
  OpRegistry& registry = OpRegistry::instance();
  EXPECT_EQ(registry.find(Vocabulary::tensorflow, "AddV2"), &op("add"));
  EXPECT_EQ(registry.find(Vocabulary::tensorflow, "add"), nullptr);
  EXPECT_EQ(registry.find(Vocabulary::onnx, "AddV2"), nullptr);
  EXPECT_THROW(registry.add(unary(OpDef("op_facts_test_taken")).tensorflow("AddV2")),
               AlreadyExistsError);
  EXPECT_EQ(registry.find("op_facts_test_taken"), nullptr);
}

TEST(OpFacts, FactsAboutWhatIsNotThereAreRefused) {
  OpRegistry& registry = OpRegistry::instance();
  EXPECT_THROW(registry.add(unary(OpDef("op_facts_test_axis")).along_axis()), InvalidArgumentError);
  EXPECT_THROW(registry.add(unary(OpDef("op_facts_test_sum")).reduction(ReductionKind::sum)),
               InvalidArgumentError);
  EXPECT_THROW(registry.add(unary(OpDef("op_facts_test_input")).tensorflow("Theirs", "x z")),
               InvalidArgumentError);
  EXPECT_THROW(registry.add(unary(OpDef("op_facts_test_attr")).tensorflow("Theirs", {}, "a=b")),
               InvalidArgumentError);
}

TEST(OpFacts, RowsOfAnOpAlongAnAxis) {
  const OpDef& softmax = op("softmax");
  const Tensor x = Tensor::of({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2});
  const Shape out[] = {{3, 2}};
  const auto asked = [&](Attr axis) {
    return softmax.row_treatment()(RowQuestion({softmax, {&x, 1}, {&axis, 1}}, out));
  };
  ASSERT_TRUE(asked(Attr()));
  EXPECT_EQ(asked(Attr())->inputs, std::vector<RowRole>{RowRole::rows});
  EXPECT_TRUE(asked(Attr(1)));
  EXPECT_FALSE(asked(Attr(0)));
  EXPECT_FALSE(asked(Attr(-2)));
}

}  // namespace tidemark
