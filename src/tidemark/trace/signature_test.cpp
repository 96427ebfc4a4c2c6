#include "tidemark/trace/signature.h"

#include <gtest/gtest.h>
#include <tidemark/create.h>

#include "tidemark/trace/test_values.h"

namespace tidemark::trace {
namespace {

Argument floats(const Shape& shape) { return Argument::any_tensor(DType::float32, shape); }

TEST(Argument, TakesTensorsOfItsDtypeWithinItsShape) {
  const Argument any_rows = floats({kUnknownDim, 3});
  EXPECT_TRUE(any_rows.accepts(floats({2, 3})));
  EXPECT_TRUE(any_rows.accepts(any_rows));
  EXPECT_TRUE(any_rows.accepts(GivenTensor{zeros({5, 3})}));
  EXPECT_FALSE(any_rows.accepts(floats({2, 4})));
  EXPECT_FALSE(any_rows.accepts(floats({3})));
  EXPECT_FALSE(any_rows.accepts(floats(Shape::unknown())));
  EXPECT_FALSE(any_rows.accepts(Argument::any_tensor(DType::float64, {2, 3})));
  EXPECT_FALSE(floats({2, 3}).accepts(any_rows));
  EXPECT_TRUE(floats(Shape::unknown()).accepts(any_rows));
}

TEST(Argument, TakesOneValueOrAnyNumberOfAKind) {
  EXPECT_TRUE(number(3).accepts(number(3)));
  EXPECT_FALSE(number(3).accepts(number(4)));
  const Argument any = Argument::any_number(DType::int64);
  EXPECT_TRUE(any.accepts(number(4)));
  EXPECT_TRUE(any.accepts(any));
  EXPECT_FALSE(number(4).accepts(any));
  EXPECT_FALSE(any.accepts(word(4)));
  EXPECT_FALSE(Argument::any_number(DType::float64).accepts(number(4)));
  EXPECT_FALSE(any.accepts(Argument::any_tensor(DType::int64, {})));
  EXPECT_FALSE(number(3).accepts(GivenTensor{zeros({})}));
}

TEST(Argument, JoinsWhatDiffersInSizesOrNumbersAlone) {
  EXPECT_EQ(floats({2, 3}).joined(floats({4, 3})), floats({kUnknownDim, 3}));
  EXPECT_EQ(floats({2}).joined(floats({2, 3})), std::nullopt);
  EXPECT_EQ(floats({2}).joined(Argument::any_tensor(DType::int32, {3})), std::nullopt);
  EXPECT_EQ(floats(Shape::unknown()).joined(floats({2})), std::nullopt);
  EXPECT_EQ(number(3).joined(number(4)), Argument::any_number(DType::int64));
  EXPECT_EQ(word(3).joined(word(4)), std::nullopt);
  EXPECT_EQ(number(3).joined(floats({})), std::nullopt);
}

TEST(Argument, CopiesHaveTheirOwnValue) {
  const Argument first = number(3);
  Argument second = first;
  EXPECT_EQ(first, second);
  EXPECT_NE(&first.value(), &second.value());
  second = number(4);
  EXPECT_NE(first, second);
  EXPECT_EQ(Argument::any_tensor(DType::float32, {2}, "x"), floats({2}));
}

TEST(Signature, TellsStructuresAndCountsApart) {
  const auto pair = std::make_shared<TestStructure>("pair");
  const Signature plain{nullptr, {number(1), number(2)}};
  const Signature nested{pair, {number(1), number(2)}};
  EXPECT_TRUE(plain.accepts(plain));
  EXPECT_TRUE(nested.accepts({std::make_shared<TestStructure>("pair"), nested.args}));
  EXPECT_FALSE(nested.accepts({std::make_shared<TestStructure>("list"), nested.args}));
  EXPECT_FALSE(plain.accepts(nested));
  EXPECT_FALSE(nested.accepts(plain));
  EXPECT_FALSE(plain.accepts({nullptr, {number(1)}}));
}

}  // namespace
}  // namespace tidemark::trace
