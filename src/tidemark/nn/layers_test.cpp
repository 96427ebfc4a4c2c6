// What a comparison with Keras (tests/python/test_cpp_keras.py) does not say of layers.
#include <gtest/gtest.h>
#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/function.h>
#include <tidemark/gradient.h>
#include <tidemark/memory.h>
#include <tidemark/nn.h>
#include <tidemark/random.h>

namespace tidemark::nn {
namespace {

float greatest_difference(const Tensor& a, const Tensor& b) {
  return max(abs(a - b)).item<float>();
}

TEST(Dropout, KeepsTheMean) {
  const Dropout drop(0.25);
  const Tensor y = drop(ones({100, 100}));
  EXPECT_NEAR(mean(y).item<float>(), 1.f, 0.03f);
  const float zeros = mean(cast(equal(y, 0.f), DType::float32)).item<float>();
  EXPECT_NEAR(zeros, 0.25f, 0.03f);
  EXPECT_THROW(Dropout(1.0), InvalidArgumentError);
}

TEST(Dropout, DrawsAnewInAFunction) {
  const Dropout drop(0.5);
  auto step = function([&](Tensor x) { return drop(x); });
  const Tensor x = ones({1000});
  step(x);
  EXPECT_GT(greatest_difference(step(x), step(x)), 0.f);
}

TEST(Attention, ACacheGivesWhatTheWholeGives) {
  const MultiHeadAttention attention(2, 4);
  const Tensor x = random::stateless_normal({3, 6, 5}, {1, 2});
  const Tensor whole = attention(x, x, {.causal = true});
  AttentionCache cache;
  std::vector<Tensor> parts;
  for (const auto& [begin, size] : {std::pair{0, 3}, {3, 1}, {4, 2}}) {
    const Tensor some = slice(x, Tensor::of({0, begin, 0}), Tensor::of({3, size, 5}));
    parts.push_back(attention(some, some, {.causal = true, .cache = &cache}));
  }
  EXPECT_EQ(cache.key.shape(), (Shape{3, 2, 6, 4}));
  EXPECT_LT(greatest_difference(concat(parts, 1), whole), 1e-6f);
}

TEST(Attention, AMaskHides) {
  const MultiHeadAttention attention(2, 4);
  const Tensor x = random::stateless_normal({1, 4, 5}, {1, 2});
  const Tensor below = cast(band_part(ones({1, 4, 4}), -1, 0), DType::bool_);
  EXPECT_LT(
      greatest_difference(attention(x, x, {.mask = below}), attention(x, x, {.causal = true})),
      1e-6f);
}

TEST(Recurrent, GoesOnFromItsState) {
  const LSTM lstm(3);
  const GRU gru(3);
  const Tensor x = random::stateless_normal({2, 6, 4}, {1, 2});
  const Tensor first = slice(x, Tensor::of({0, 0, 0}), Tensor::of({2, 4, 4}));
  const Tensor rest = slice(x, Tensor::of({0, 4, 0}), Tensor::of({2, 2, 4}));
  EXPECT_LT(greatest_difference(lstm.run(rest, lstm.run(first).state).output, lstm(x)), 1e-6f);
  EXPECT_LT(greatest_difference(gru.run(rest, gru.run(first).state).output, gru(x)), 1e-6f);
  EXPECT_THROW(lstm.run(x, {x}), InvalidArgumentError);
}

TEST(Recurrent, RunsForAnyBatchAndLengthInAFunction) {
  const GRU gru(3, {.return_sequences = true});
  auto traced = function([&](Tensor x) { return gru(x); });
  for (const Shape& shape : {Shape{2, 5, 4}, Shape{3, 5, 4}, Shape{4, 7, 4}, Shape{1, 2, 4}}) {
    const Tensor x = random::stateless_normal(shape, {1, 2});
    EXPECT_LT(greatest_difference(traced(x), gru(x)), 1e-6f) << shape.to_string();
  }
  EXPECT_LE(traced.traces().size(), 3u);
}

TEST(Shapes, AnyBatchInAFunction) {
  const Sequential model{Conv2D(2, 3, {.padding = "same"}),
                         Conv2DTranspose(2, 2, {.strides = 2}),
                         GroupNorm({.groups = 2}),
                         Reshape({-1, 4}),
                         Flatten(),
                         Dense(3)};
  auto traced = function([&](Tensor x) { return model(x); });
  for (const int64_t batch : {2, 3, 5}) {
    const Tensor x = random::stateless_normal({batch, 4, 4, 1}, {3, 4});
    EXPECT_LT(greatest_difference(traced(x), model(x)), 1e-5f);
  }
}

TEST(Layers, BadInputSaysWhatIsWanted) {
  const auto said = [](auto&& work) -> std::string {
    try {
      work();
    } catch (const InvalidArgumentError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(said([] { Dense(0); }).find("`units` must be positive. Received: 0"),
            std::string::npos);
  EXPECT_NE(said([] { Dense(3)(Tensor(1.f)); }).find("at least 2 dimensions"), std::string::npos);
  EXPECT_NE(said([] {
              Conv2D(3, {1, 2, 3});
            }).find("`kernel_size` is one positive number or 2"),
            std::string::npos);
  EXPECT_NE(said([] { Conv2D(3, 3, {.padding = "full"}); }).find("\"valid\" or \"same\""),
            std::string::npos);
  EXPECT_NE(said([] {
              Conv2D(3, 3)(zeros({4, 4, 1}));
            }).find("the input has 4 dimensions"),
            std::string::npos);
  EXPECT_NE(said([] {
              conv2d(zeros({1, 4, 4, 1}), zeros({3, 1, 1}));
            }).find("4 dimensions"),
            std::string::npos);
}

/// The layers with half inputs give what they give with float32, as far as such numbers can tell.
TEST(Layers, ComputeInTheDtypeOfTheirInput) {
  const Tensor x = random::stateless_normal({2, 6, 6, 4}, {1, 2});
  const Tensor sequence = x.reshaped({2, 36, 4});
  const auto compare = [](const auto& layer, const Tensor& given) {
    const Tensor exact = layer(given);
    for (const DType half : {DType::bfloat16, DType::float16}) {
      GradientTape tape;
      const Tensor y = layer(cast(given, half));
      EXPECT_EQ(y.dtype(), half);
      const Tensor far = max(abs(cast(y, DType::float32) - exact));
      EXPECT_LT(far.template item<float>(), 0.1f) << layer.kind();
      const auto gradients = tape.gradient(sum(cast(y, DType::float32)), layer.parameters());
      for (const Tensor& one : gradients) EXPECT_EQ(one.dtype(), DType::float32);
    }
    for (const Variable& one : layer.parameters()) EXPECT_EQ(one.dtype(), DType::float32);
  };
  compare(Dense(3, {.activation = "relu"}), x);
  compare(Conv2D(3, 3, {.padding = "same"}), x);
  compare(Conv2DTranspose(3, 2), x);
  compare(DepthwiseConv2D(3), x);
  compare(LayerNorm(), x);
  compare(RMSNorm(), x);
  compare(GroupNorm({.groups = 2}), x);
  compare(BatchNorm(), x);
  compare(LSTM(3), sequence);
  compare(GRU(3), sequence);
  const MultiHeadAttention attention(2, 3);
  const Tensor half = cast(sequence, DType::bfloat16);
  const Tensor exact = attention(sequence, sequence);
  EXPECT_LT(max(abs(cast(attention(half, half), DType::float32) - exact)).item<float>(), 0.1f);
  const Sequential model{Cast(DType::bfloat16), Flatten(), Dense(4)};
  const losses::MeanSquaredError loss;
  EXPECT_EQ(loss(zeros({2, 4}), model(x)).dtype(), DType::float32);
}

TEST(Functions, Conv2DTakesOptionsByName) {
  const Tensor y =
      conv2d(ones({1, 4, 4, 1}), ones({3, 3, 1, 2}), {.strides = {2, 2}, .padding = "SAME"});
  EXPECT_EQ(y.shape(), (Shape{1, 2, 2, 2}));
}

}  // namespace
}  // namespace tidemark::nn
