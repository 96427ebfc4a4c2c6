#include <gtest/gtest.h>
#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/function.h>
#include <tidemark/gradient.h>
#include <tidemark/memory.h>
#include <tidemark/nn.h>
#include <tidemark/random.h>

#include <sstream>
#include <thread>

namespace tidemark::nn {
namespace {

struct Perceptron : Module {
  Dense hidden = add("hidden", Dense(4, {.activation = "relu"}));
  Dense out = add("out", Dense(2));
  Variable scale = add("scale", Tensor(2.f));
  Tensor operator()(const Tensor& x) const { return out(hidden(x)) * scale; }
};

std::vector<std::string> names_of(const Module& module) {
  std::vector<std::string> out;
  for (const NamedVariable& one : module.named_variables()) out.push_back(one.name);
  return out;
}

/// What the error says that `work` ends with.
template <class E, class Work>
std::string said(Work&& work) {
  try {
    work();
  } catch (const E& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

TEST(Module, MembersAreFoundUnderTheirNames) {
  const Perceptron model;
  model(zeros({1, 3}));
  EXPECT_EQ(names_of(model), (std::vector<std::string>{"scale", "hidden.kernel", "hidden.bias",
                                                       "out.kernel", "out.bias"}));
  EXPECT_EQ(model.parameters().size(), 5u);
  EXPECT_EQ(model.variable("out.kernel").shape(), (Shape{4, 2}));
  EXPECT_NE(said<NotFoundError>([&] { model.variable("out.weight"); }).find("hidden.bias"),
            std::string::npos);
}

TEST(Module, WeightsThatAreNotThereYetAreAnError) {
  const Perceptron model;
  const std::string why = said<FailedPreconditionError>([&] { model.parameters(); });
  EXPECT_NE(why.find("[hidden] this Dense has no weights yet"), std::string::npos) << why;
}

TEST(Module, CopiesShareTheWeights) {
  const Dense a(2), b = a;
  a(zeros({1, 3}));
  Variable bias = b.variable("bias");
  bias.assign(ones({2}));
  EXPECT_EQ(a(zeros({1, 3})).data<float>()[1], 1.f);
  EXPECT_TRUE(a == b);
}

TEST(Module, ATakenNameIsRefused) {
  struct Twice : Module {
    Dense a = add("a", Dense(1)), b = add("a", Dense(1));
  };
  EXPECT_NE(said<InvalidArgumentError>([] { Twice(); }).find("\"a\", which is taken"),
            std::string::npos);
}

TEST(Module, AFailedBuildLeavesNothingBehind) {
  const Conv2D conv(4, 3, {.groups = 2});
  EXPECT_THROW(conv(zeros({1, 5, 5, 3})), InvalidArgumentError);
  EXPECT_THROW(conv.parameters(), FailedPreconditionError);
  EXPECT_EQ(conv(zeros({1, 5, 5, 2})).shape(), (Shape{1, 3, 3, 4}));
  EXPECT_EQ(conv.parameters().size(), 2u);
}

TEST(Module, TrainingReachesMembers) {
  const Sequential model{Dense(3), Residual(Dropout(0.5))};
  EXPECT_TRUE(model.is_training());
  model.eval();
  const Tensor x = ones({4, 2});
  EXPECT_FALSE(model.is_training());
  EXPECT_EQ(sum(model(x) - model(x)).item<float>(), 0.f) << "nothing is dropped";
}

TEST(Module, PrintsATableWithBytes) {
  const Sequential model{Dense(10), BatchNorm(), Dense(2)};
  model(zeros({1, 20}));
  std::ostringstream out;
  out << model;
  EXPECT_EQ(out.str(),
            "Sequential                           dtype    shape     bytes\n"
            "dense.kernel                         float32  (20, 10)  800 B\n"
            "dense.bias                           float32  (10,)      40 B\n"
            "batch_normalization.gamma            float32  (10,)      40 B\n"
            "batch_normalization.beta             float32  (10,)      40 B\n"
            "batch_normalization.moving_mean      float32  (10,)      40 B\n"
            "batch_normalization.moving_variance  float32  (10,)      40 B\n"
            "dense_1.kernel                       float32  (10, 2)    80 B\n"
            "dense_1.bias                         float32  (2,)        8 B\n"
            "1.06 KiB of weights, 80 B of them not trained\n");
}

TEST(Module, BuildsOnceWhenThreadsMeet) {
  const Dense dense(8);
  const Tensor x = ones({2, 4});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { dense(x); });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(dense.named_variables().size(), 2u);
}

TEST(Module, GoesWithItsWeights) {
  const int64_t before = memory::stats().live;
  for (int i = 0; i < 20; ++i) {
    const Sequential model{Conv2D(4, 3), Flatten(), Dense(10)};
    auto step = function([&](Tensor x) { return sum(model(x)); });
    step(zeros({2, 8, 8, 1}));
    step(zeros({2, 8, 8, 1}));
  }
  EXPECT_EQ(memory::stats().live, before);
}

TEST(Activation, UnknownNamesListTheKnown) {
  const std::string why = said<InvalidArgumentError>([] { Activation("rleu"); });
  EXPECT_NE(why.find("none called \"rleu\"; there are: linear, relu"), std::string::npos) << why;
  EXPECT_THROW(Initializer("glorot"), InvalidArgumentError);
}

TEST(Activation, FunctionsDo) {
  const Dense dense(1, {.activation = [](const Tensor& x) { return x * 0.f + 3.f; },
                        .kernel_initializer = constant(2)});
  EXPECT_EQ(dense(ones({1, 5})).item<float>(), 3.f);
  EXPECT_EQ(dense.variable("kernel").value().data<float>()[4], 2.f);
}

TEST(Initializer, DrawsWithinKerasBounds) {
  const Shape shape{3, 3, 16, 32};
  const double in = 9 * 16, out = 9 * 32;
  const auto greatest = [&](const char* name) {
    return double(max(abs(Initializer(name)(shape))).item<float>());
  };
  const double glorot = std::sqrt(6 / (in + out)), he = std::sqrt(6 / in);
  EXPECT_LE(greatest("glorot_uniform"), glorot);
  EXPECT_GT(greatest("glorot_uniform"), 0.95 * glorot);
  EXPECT_LE(greatest("he_uniform"), he);
  EXPECT_GT(greatest("he_uniform"), 0.95 * he);
  const float spread = std::sqrt(variance(Initializer("he_normal")(shape)).item<float>());
  EXPECT_NEAR(spread, std::sqrt(2 / in), 0.03 * std::sqrt(2 / in));
}

TEST(Initializer, OrthogonalRowsAre) {
  const Tensor w = Initializer("orthogonal")({3, 8});
  const Tensor product = matmul(w, w, {.transpose_b = true});
  EXPECT_LT(max(abs(product - Initializer("identity")({3, 3}))).item<float>(), 1e-5f);
}

}  // namespace
}  // namespace tidemark::nn
