// TensorFlow's functions that are more than an op: values worked out by hand, or TensorFlow's.
#include <gtest/gtest.h>
#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/create.h>
#include <tidemark/function.h>
#include <tidemark/image.h>
#include <tidemark/memory.h>
#include <tidemark/nn_functions.h>
#include <tidemark/random.h>

namespace tidemark {
namespace {

std::vector<float> floats(const Tensor& t) {
  const auto all = t.values<float>();
  return {all.begin(), all.end()};
}
using Floats = std::vector<float>;

TEST(Constant, HasTheShapeOfItsList) {
  EXPECT_EQ(constant(2.5).dtype(), DType::float64);
  EXPECT_EQ(constant(3).shape(), Shape{});
  EXPECT_EQ(constant({1, 2, 3}).to_ints(), (Ints{1, 2, 3}));
  const Tensor matrix = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  EXPECT_EQ(matrix.shape(), (Shape{2, 3}));
  EXPECT_EQ(floats(matrix), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(constant({1.f, 2.f, 3.f, 4.f}, {2, 2}).shape(), (Shape{2, 2}));
  EXPECT_EQ(constant({true, false}).dtype(), DType::bool_);
  EXPECT_EQ(constant(std::initializer_list<float>{}).shape(), (Shape{0}));
  EXPECT_THROW(constant({1.f, 2.f, 3.f}, {2, 2}), InvalidArgumentError);
  EXPECT_THROW(constant({{1.f, 2.f}, {3.f}}), InvalidArgumentError);
}

TEST(Composed, PicksAndMarks) {
  const Tensor x = constant({1.f, -2.f, 3.f});
  EXPECT_EQ(floats(where(greater(x, 0.f), x, zeros_like(x))), (Floats{1, 0, 3}));
  EXPECT_EQ(floats(one_hot(constant({2, 0, -1}), 3)), (Floats{0, 0, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(floats(eye(2, 3)), (Floats{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(eye(2, -1, DType::int32).to_ints(), (Ints{1, 0, 0, 1}));
  EXPECT_EQ(eye(0).shape(), (Shape{0, 0}));
}

TEST(Composed, MeasuresAndClips) {
  const Tensor x = constant({{3.f, 4.f}, {6.f, 8.f}});
  EXPECT_EQ(floats(norm(x, {.axis = {1}})), (Floats{5, 10}));
  EXPECT_EQ(norm(x, {.keepdims = true}).shape(), (Shape{1, 1}));
  EXPECT_FLOAT_EQ(norm(x).item<float>(), std::sqrt(125.f));
  EXPECT_EQ(floats(clip_by_norm(constant({3.f, 4.f}), 1)), (Floats{0.6f, 0.8f}));
  EXPECT_EQ(floats(clip_by_norm(constant({3.f, 4.f}), 9)), (Floats{3, 4}));
  const auto [clipped, length] = clip_by_global_norm({constant({3.f}), constant({4.f})}, 2.5);
  EXPECT_EQ(length.item<float>(), 5.f);
  EXPECT_EQ(clipped[1].item<float>(), 2.f);
  EXPECT_THROW(global_norm({}), InvalidArgumentError);
}

TEST(NnFunctions, AreTensorFlows) {
  const Tensor x = constant({{1.f, 2.f}, {3.f, 6.f}});
  const auto [mean, variance] = nn::moments(x, {0});
  EXPECT_EQ(floats(mean), (Floats{2, 4}));
  EXPECT_EQ(floats(variance), (Floats{1, 4}));
  EXPECT_EQ(nn::moments(x, {0, 1}, true).first.shape(), (Shape{1, 1}));
  EXPECT_EQ(floats(nn::batch_normalization(x, mean, variance, {}, {}, 0)), (Floats{-1, -1, 1, 1}));
  const Tensor scaled = nn::batch_normalization(x, mean, variance, constant(1.f), constant(2.f), 0);
  EXPECT_EQ(floats(scaled), (Floats{-1, -1, 3, 3}));
  EXPECT_EQ(nn::l2_loss(x).item<float>(), 25.f);
  EXPECT_EQ(floats(nn::bias_add(x, constant({1.f, 0.f}))), (Floats{2, 2, 4, 6}));
  const Tensor image = reshape(x, Tensor::of({1, 2, 2, 1}));
  EXPECT_EQ(nn::max_pool2d(image, {2, 2}).item<float>(), 6.f);
  EXPECT_EQ(nn::avg_pool2d(image, {2, 2}, {.strides = {1, 1}}).item<float>(), 3.f);
  const Tensor labels = constant({1, 0});
  EXPECT_EQ(floats(nn::sparse_softmax_cross_entropy_with_logits(labels, x)),
            floats(nn::sparse_softmax_cross_entropy(labels, x)));
  EXPECT_THROW(nn::dropout(x, 1), InvalidArgumentError);
}

TEST(Image, SizesAndMirrors) {
  const Tensor one = reshape(constant({1.f, 2.f, 3.f, 4.f}), Tensor::of({2, 2, 1}));
  EXPECT_EQ(floats(image::flip_left_right(one)), (Floats{2, 1, 4, 3}));
  EXPECT_EQ(floats(image::flip_up_down(one)), (Floats{3, 4, 1, 2}));
  EXPECT_EQ(floats(image::resize(one, {1, 1})), (Floats{2.5f}));
  EXPECT_EQ(image::resize(cast(one, DType::uint8), {4, 4}).dtype(), DType::float32);
  EXPECT_EQ(image::resize(expand_dims(one, 0), {3, 4}).shape(), (Shape{1, 3, 4, 1}));
  EXPECT_THROW(image::resize(one, {0, 4}), InvalidArgumentError);
  EXPECT_THROW(image::resize(constant({1.f}), {2, 2}), InvalidArgumentError);
  EXPECT_THROW(image::flip_left_right(constant({1.f})), InvalidArgumentError);
}

TEST(Image, AMirrorIsDrawnAnewInAFunction) {
  const Tensor one = reshape(constant({1.f, 2.f}), Tensor::of({1, 2, 1}));
  auto step = function([&](Tensor x) { return image::random_flip_left_right(x); });
  int mirrored = 0;
  for (int i = 0; i < 64; ++i) mirrored += floats(step(one))[0] == 2.f;
  EXPECT_GT(mirrored, 8);
  EXPECT_LT(mirrored, 56);
}

TEST(Composed, StaysFlat) {
  const auto once = [] {
    const Tensor x = norm(constant({{1.f, 2.f}, {3.f, 4.f}}), {.axis = {0}}) + nn::l2_loss(eye(4));
    return clip_by_norm(x, 1);
  };
  once();
  const int64_t before = memory::stats().live;
  for (int i = 0; i < 50; ++i) once();
  EXPECT_EQ(memory::stats().live, before);
}

}  // namespace
}  // namespace tidemark
