#include <gtest/gtest.h>
#include <tidemark/call.h>
#include <tidemark/checkpoint.h>
#include <tidemark/control_flow.h>
#include <tidemark/create.h>
#include <tidemark/layers.h>
#include <tidemark/memory.h>
#include <tidemark/ops.h>
#include <tidemark/random.h>
#include <tidemark/sequence_layers.h>
#include <tidemark/sequential.h>
#include <tidemark/train.h>

#include <filesystem>
#include <sstream>

namespace tidemark::train {
namespace {

/// Points of which the sum's sign is the label.
data::Pipeline points(int64_t count) {
  const Tensor x = random::stateless_normal({count, 4}, {1, 2});
  return data::from_tensors({x, cast(greater(sum(x, Ints{1}), 0.f), DType::int32)});
}

nn::Sequential two_layers() {
  return nn::Sequential{nn::Dense(16, {.activation = "relu"}), nn::Dense(2)};
}

FitOptions quiet(int64_t epochs) {
  FitOptions options;
  options.loss = losses::SparseCategoricalCrossentropy({.from_logits = true});
  options.optimizer = optimizers::Adam({.learning_rate = 1e-2});
  options.metrics = {{"accuracy", metrics::SparseCategoricalAccuracy()}};
  options.epochs = epochs;
  options.out = nullptr;
  return options;
}

TEST(Fit, LearnsAndSaysSo) {
  const nn::Sequential model = two_layers();
  std::ostringstream out;
  FitOptions options = quiet(8);
  options.validation = points(100).batch(50);
  options.out = &out;
  const History history = fit(model, points(500).batch(64), options);
  ASSERT_EQ(history.size(), 8u);
  EXPECT_LT(history.back().at("loss"), history.front().at("loss"));
  EXPECT_GT(history.back().at("val_accuracy"), 0.9);
  EXPECT_TRUE(model.is_training());
  const Logs again =
      evaluate(model, points(100).batch(50), {.loss = options.loss, .metrics = options.metrics});
  EXPECT_EQ(again.at("loss"), history.back().at("val_loss"));
  const std::string text = out.str();
  EXPECT_EQ(text.find("plan of step: peak"), 0u) << text;
  EXPECT_NE(text.find("Epoch 8/8\n8/8 "), std::string::npos) << text;
}

TEST(Fit, LayersOverTimeArePlanned) {
  const auto sequences = points(64).map([](const Tensor& x, const Tensor& y) {
    return std::pair(stack(std::vector<Tensor>{x, 0.5f * x, x}, 0), y);
  });
  const nn::Sequential last{nn::LSTM(8), nn::Dense(2)};
  const nn::Sequential all{nn::GRU(8, {.return_sequences = true}), nn::Flatten(), nn::Dense(2)};
  for (const nn::Sequential& model : {last, all}) {
    std::ostringstream out;
    FitOptions options = quiet(12);
    options.out = &out;
    const History history = fit(model, sequences.batch(16), options);
    EXPECT_LT(history.back().at("loss"), history.front().at("loss"));
    EXPECT_EQ(out.str().find("plan of step: peak"), 0u) << out.str();
  }
}

TEST(Fit, AStepWithoutAPlanSaysWhyAndTrains) {
  struct Branching : nn::Module {
    nn::Dense dense = add("dense", nn::Dense(2));
    Tensor operator()(const Tensor& x) const {
      return cond(
          greater(sum(x), 0.f), [&] { return dense(x); }, [&] { return dense(-x); });
    }
  };
  std::ostringstream out;
  FitOptions options = quiet(2);
  options.out = &out;
  const History history = fit(Branching(), points(64).batch(16), options);
  EXPECT_EQ(history.size(), 2u);
  EXPECT_NE(out.str().find("Epoch 1/2"), std::string::npos) << out.str();
}

TEST(Fit, RefusesBeforeItBegins) {
  const nn::Sequential model = two_layers();
  FitOptions options = quiet(1);
  options.loss.reset();
  EXPECT_THROW(fit(model, points(10).batch(5), options), InvalidArgumentError);
  options = quiet(1);
  options.optimizer = {};
  EXPECT_THROW(fit(model, points(10).batch(5), options), InvalidArgumentError);
  const auto alone = data::from_tensors({zeros({4, 4})}).batch(2);
  EXPECT_THROW(fit(model, alone, quiet(1)), InvalidArgumentError);
  EXPECT_THROW(fit(model, points(10).batch(5).take(0), quiet(1)), InvalidArgumentError);
}

TEST(Fit, ABudgetHoldsOrIsRefused) {
  const nn::Sequential model = two_layers();
  FitOptions options = quiet(1);
  options.memory_budget = 64;
  EXPECT_THROW(fit(model, points(64).batch(64), options), ResourceExhaustedError);
  options.memory_budget = MiB(1);
  fit(model, points(64).batch(64), options);
}

TEST(Fit, StopsEarlyWithTheBestWeights) {
  const nn::Sequential model = two_layers();
  FitOptions options = quiet(20);
  std::vector<double> said = {5, 3, 4, 4, 4, 4, 4};
  std::string best;
  Callback scripted;
  scripted.on_epoch_end = [&](train::Run& run) {
    run.logs["val_loss"] = said.at(static_cast<size_t>(run.epoch));
    if (run.epoch == 1) best = model.variable("dense.kernel").value().to_string();
  };
  options.callbacks = {scripted, early_stopping({.patience = 2, .restore_best_weights = true})};
  const History history = fit(model, points(64).batch(32), options);
  EXPECT_EQ(history.size(), 4u);  // the second was the best; two more were waited for
  EXPECT_EQ(model.variable("dense.kernel").value().to_string(), best);
  options.callbacks = {early_stopping({.monitor = "f1"})};
  EXPECT_THROW(fit(model, points(64).batch(32), options), InvalidArgumentError);
  EXPECT_THROW(early_stopping({.mode = "best"}), InvalidArgumentError);
}

TEST(Fit, GoesOnFromItsCheckpoints) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("fit_" + std::to_string(::getpid()))).string();
  const auto train = points(64).batch(32);
  const nn::Sequential model = two_layers(), other = two_layers();
  FitOptions options = quiet(2);
  options.callbacks = {checkpoints(folder), tensorboard(folder + "/logs")};
  fit(model, train, options);
  EXPECT_EQ(latest_checkpoint(folder), folder + "/ckpt-2");
  options.epochs = 1;
  options.callbacks.clear();
  fit(model, train, options);
  FitOptions more = quiet(1);
  more.callbacks = {checkpoints(folder, {.resume = true})};
  fit(other, train, more);
  EXPECT_EQ(other.variable("dense.kernel").value().to_string(),
            model.variable("dense.kernel").value().to_string());
  EXPECT_FALSE(std::filesystem::is_empty(folder + "/logs/train"));
  std::filesystem::remove_all(folder);
}

TEST(Fit, StaysFlat) {
  const nn::Sequential model = two_layers();
  const auto train = points(64).batch(32);
  FitOptions options = quiet(2);
  fit(model, train, options);
  const int64_t before = memory::stats().live;
  for (int i = 0; i < 5; ++i) fit(model, train, options);
  EXPECT_EQ(memory::stats().live, before);
}

}  // namespace
}  // namespace tidemark::train
