// TensorFlow's names in C++ and what has a default by name: written from the definitions, so that
// what is tested here is the rule, on a few ops. Most of it is tested by compiling.
#include <gtest/gtest.h>
#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>

#include <concepts>
#include <type_traits>

namespace td = tidemark;

namespace {

const td::Tensor matrix = td::Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2});

TEST(Names, TensorFlowsNameIsTheOp) {
  EXPECT_EQ(td::reduce_mean(matrix).item<float>(), 2.5f);
  EXPECT_EQ(td::mean(matrix).item<float>(), 2.5f);
  EXPECT_EQ(td::reduce_sum(matrix, td::Ints{0}).data<float>()[1], 6.f);
}

TEST(Names, NamespacesAreTensorFlows) {
  EXPECT_EQ(td::math::reduce_max(matrix).item<float>(), 4.f);
  EXPECT_EQ(td::math::reduce_variance(matrix).item<float>(), 1.25f);
  EXPECT_EQ(td::nn::relu(0.f - matrix).data<float>()[0], 0.f);
  EXPECT_FLOAT_EQ(td::linalg::det(matrix).item<float>(), -2.f);
  EXPECT_EQ(td::bitwise::invert(td::Tensor(0)).item<int32_t>(), -1);
}

TEST(Names, ANamespaceShowsTheSameFunction) {
  EXPECT_EQ(static_cast<td::Tensor (*)(const td::Tensor&)>(&td::math::tanh),
            static_cast<td::Tensor (*)(const td::Tensor&)>(&td::tanh));
}

TEST(Names, WhatHasADefaultIsGivenByName) {
  EXPECT_EQ(td::reduce_sum(matrix, {.axis = td::Ints{1}, .keepdims = true}).shape(),
            (td::Shape{2, 1}));
  EXPECT_EQ(td::sum(matrix, {.keepdims = true}).shape(), (td::Shape{1, 1}));
  EXPECT_EQ(td::sum(matrix, {.axis = td::Ints{0}}).shape(), (td::Shape{2}));
  EXPECT_EQ(td::sum(matrix, {}).shape(), td::Shape{});
  EXPECT_EQ(td::matmul(matrix, matrix, {.transpose_b = true}).data<float>()[0], 5.f);
  const td::Tensor image = td::ones({1, 4, 4, 1}), filter = td::ones({3, 3, 1, 2});
  const td::Tensor y =
      td::convolution(image, filter, {.strides = td::Ints{2, 2}, .padding = "SAME"});
  EXPECT_EQ(y.shape(), (td::Shape{1, 2, 2, 2}));
  EXPECT_EQ(td::convolution(image, filter, {.strides = {2, 2}, .padding = "SAME"}).shape(),
            y.shape());
  EXPECT_EQ(td::max_pool(image, {2, 2}, {.strides = {1, 1}}).shape(), (td::Shape{1, 3, 3, 1}));
}

TEST(Names, PositionsStillDo) {
  const td::Tensor image = td::ones({1, 4, 4, 1});
  EXPECT_EQ(td::max_pool(image, {2, 2}, {2, 2}).shape(), (td::Shape{1, 2, 2, 1}));
  EXPECT_EQ(td::convolution(image, td::ones({3, 3, 1, 2}), {1, 1}, "SAME").shape(),
            (td::Shape{1, 4, 4, 2}));
}

template <class X>
concept CanMatmul = requires(X x) {
  td::matmul(x, x);
};
template <class Axis>
concept CanSumOver = requires(td::Tensor x, Axis axis) {
  td::reduce_sum(x, axis);
};

TEST(Names, ATextIsAStringTensor) {
  const td::Tensor text = "abc";
  EXPECT_EQ(text.dtype(), td::DType::string);
  EXPECT_EQ(text.string_at(0), "abc");
  EXPECT_EQ(td::strings::length("abcd").item<int32_t>(), 4);
  EXPECT_TRUE(td::equal(text, "abc").item<bool>());
  EXPECT_THROW(td::matmul("abc", matrix), td::InvalidArgumentError);
  static_assert(!std::is_convertible_v<const float*, td::Tensor>);
  static_assert(!std::is_convertible_v<void*, td::Tensor>);
}

TEST(Names, TypesThatCannotBeAreErrorsAtCompileTime) {
  static_assert(CanMatmul<td::Tensor>);
  static_assert(!CanMatmul<std::string>);
  static_assert(CanSumOver<td::Ints>);
  static_assert(!CanSumOver<std::string>);
}

}  // namespace
