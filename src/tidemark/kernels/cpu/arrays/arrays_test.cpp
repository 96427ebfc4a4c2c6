#include <gtest/gtest.h>
#include <tidemark/call.h>

#include "tidemark/tensor/handlers.h"

namespace tidemark {
namespace {

Tensor write(const Tensor& array, int64_t index, const Tensor& value, bool dynamic = false) {
  return call("array_write", {array, Tensor(index), value}, {{"dynamic_size", dynamic}});
}

/// Gives up the array.
Tensor write_over(Tensor&& array, int32_t index, const Tensor& value) {
  const Tensor at(index);
  const Attr attrs[] = {Attr(true)};
  const Borrowed<3> inputs(array, at, value);
  Tensor out;
  dispatch({OpRegistry::instance().get("array_write"), inputs.span(), attrs, 1u}, {&out, 1});
  return out;
}

Tensor zeros(const Shape& shape) {
  return call("fill", {Tensor::of(shape.dims(), {shape.rank()}), Tensor(0.f)});
}

std::vector<float> floats(const Tensor& t) {
  return {t.values<float>().begin(), t.values<float>().end()};
}

TEST(ArrayWrite, LeavesTheArrayThatItIsGiven) {
  const Tensor array = zeros({2, 2});
  const Tensor out = write(array, 1, Tensor::of({1.f, 2.f}));
  EXPECT_EQ(floats(out), (std::vector<float>{0, 0, 1, 2}));
  EXPECT_EQ(floats(array), (std::vector<float>{0, 0, 0, 0}));
}

TEST(ArrayWrite, GivesABlankArrayItsShape) {
  const Tensor out = write(zeros({3, 0}), 1, Tensor(5.f));
  EXPECT_EQ(out.shape(), (Shape{3}));
  EXPECT_EQ(floats(out), (std::vector<float>{0, 5, 0}));
}

TEST(ArrayWrite, FillsWhatLiesBetweenWithZeros) {
  Tensor out = write(Tensor::of({1.f}), 3, Tensor(4.f), true);
  EXPECT_EQ(floats(out), (std::vector<float>{1, 0, 0, 4}));
  for (int i = 4; i < 20000; i += 2) out = write_over(std::move(out), i, Tensor(float(i)));
  ASSERT_EQ(out.shape(), (Shape{19999}));
  for (int i = 4; i < 19999; ++i) ASSERT_EQ(out.data<float>()[i], i % 2 == 0 ? float(i) : 0.f);
}

TEST(ArrayWrite, WritesWhereItLiesOnlyWhatNobodyElseHas) {
  Tensor array = zeros({100});
  const void* data = array.raw_data();
  array = write_over(std::move(array), 7, Tensor(1.f));
  EXPECT_EQ(array.raw_data(), data);
  const Tensor other = array;
  array = write_over(std::move(array), 7, Tensor(2.f));
  EXPECT_NE(array.raw_data(), data);
  EXPECT_EQ(other.data<float>()[7], 1.f);
}

TEST(ArrayWrite, OfStrings) {
  const std::string_view words[] = {"a", "long enough to lie in the characters"};
  const Tensor array = Tensor::of_strings(words, {2});
  const std::string_view word[] = {"another word of some length"};
  const Tensor out = write(array, 3, Tensor::of_strings(word, {}), true);
  EXPECT_EQ(out.string_at(1), words[1]);
  EXPECT_EQ(out.string_at(2), "");
  EXPECT_EQ(out.string_at(3), word[0]);
  EXPECT_EQ(call("array_read", {out, Tensor(1)}).string_at(0), words[1]);
}

TEST(ArrayRead, CopiesOrShares) {
  const Tensor array = Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2});
  const Tensor copy = call("array_read", {array, Tensor(1)});
  const Tensor view = call("array_read", {array, Tensor(1)}, {{"share", true}});
  EXPECT_EQ(floats(copy), (std::vector<float>{3, 4}));
  EXPECT_EQ(view.raw_data(), array.data<float>() + 2);
  EXPECT_NE(copy.raw_data(), view.raw_data());
}

TEST(ArrayRead, OfWhatWasNeverWritten) {
  const Tensor blank = zeros({2, 0});
  const Tensor row = call("array_read", {blank, Tensor(1)}, {{"element_shape", Ints{2}}});
  EXPECT_EQ(floats(row), (std::vector<float>{0, 0}));
  EXPECT_THROW(call("array_read", {blank, Tensor(2)}), InvalidArgumentError);
  EXPECT_THROW(call("array_read", {zeros({2, 3}), Tensor(0)}, {{"element_shape", Ints{2}}}),
               InvalidArgumentError);
}

TEST(ArrayCut, TakesAnElementOut) {
  const Tensor array = Tensor::of({1.f, 2.f, 3.f});
  const Tensor inputs[] = {array, Tensor(1)};
  std::vector<Tensor> cut = call_all("array_cut", inputs, {{"rows", 3}});
  EXPECT_EQ(floats(cut[0]), (std::vector<float>{1, 0, 3}));
  EXPECT_EQ(floats(cut[1]), (std::vector<float>{2}));
  cut = call_all("array_cut", inputs, {{"rows", 1}});
  EXPECT_EQ(floats(cut[0]), (std::vector<float>{1}));
}

TEST(ArrayResize, IsAViewWhereItCanBe) {
  const Tensor array = Tensor::of({1.f, 2.f, 3.f});
  EXPECT_EQ(call("array_resize", {array, Tensor(2)}).raw_data(), array.raw_data());
  EXPECT_EQ(call("array_resize", {array, Tensor(-1)}).shape(), (Shape{3}));
  EXPECT_EQ(floats(call("array_resize", {array, Tensor(4)})), (std::vector<float>{1, 2, 3, 0}));
}

}  // namespace
}  // namespace tidemark
