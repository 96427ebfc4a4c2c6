#include <gtest/gtest.h>
#include <tidemark/control_flow.h>
#include <tidemark/create.h>
#include <tidemark/layers.h>
#include <tidemark/memory.h>
#include <tidemark/nn_functions.h>
#include <tidemark/saved_model.h>

#include <filesystem>
#include <thread>

#include "tidemark/io/model_writer.h"
#include "tidemark/trace/builder.h"

namespace tidemark {
namespace {

class SavedModels : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        (std::filesystem::temp_directory_path() / ("saved_models_" + std::to_string(::getpid())))
            .string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// x @ w, doubled until it is large; counts its calls.
  void save() {
    Variable w(Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2}), {.name = "w"});
    Variable calls(Tensor(int64_t{0}), {.name = "calls", .trainable = false});
    trace::GraphBuilder builder("scaled");
    const Tensor x = builder.add_input(DType::float32, {kUnknownDim, 2});
    std::vector<Tensor> out;
    {
      const trace::TraceScope scope(builder);
      calls.assign_add(Tensor(int64_t{1}));
      const Tensor y = call("matmul", {x, w});
      const Tensor limit = Tensor(1000.f);
      out = while_loop(
          [&](std::span<const Tensor> v) {
            return call("less", {call("max", {v[0]}), limit});
          },
          [&](std::span<const Tensor> v) { return std::vector<Tensor>{v[0] * Tensor(2.f)}; }, {y});
      const TensorsFunction branches[] = {[&] { return std::vector<Tensor>{out[0]}; },
                                          [&] { return std::vector<Tensor>{-out[0]}; }};
      out = switch_case(call("greater", {call("sum", {x}), Tensor(100.f)}), branches);
      out.push_back(calls.value());
    }
    io::ModelWriter writer;
    const uint64_t function = writer.add_function("scaled", *builder.finish(out));
    writer.add_signature("serving_default", function, {"x"}, {"y", "calls"});
    writer.write(folder_);
  }

  std::string folder_;
};

TEST_F(SavedModels, RunsBySignature) {
  save();
  const SavedModel model = load_model(folder_);
  ASSERT_EQ(model.signatures().size(), 1u);
  const SignatureSpec& signature = model.signatures()[0];
  EXPECT_EQ(signature.inputs[0].name, "x");
  EXPECT_EQ(signature.inputs[0].shape, (Shape{kUnknownDim, 2}));
  EXPECT_EQ(signature.outputs[1].dtype, DType::int64);
  EXPECT_EQ(model.weight_bytes() >= 24, true);
  auto outputs = model({{"x", Tensor::of({1.f, 1.f}, {1, 2})}});
  EXPECT_EQ(outputs.at("y").data<float>()[0], 4.f * 256);
  EXPECT_EQ(outputs.at("y").data<float>()[1], 6.f * 256);
  EXPECT_EQ(outputs.at("calls").item<int64_t>(), 1);
  outputs = model({{"x", Tensor::of({1000.f, 1000.f}, {1, 2})}});
  EXPECT_EQ(outputs.at("y").data<float>()[0], -4000.f);
  EXPECT_EQ(outputs.at("calls").item<int64_t>(), 2);
}

TEST_F(SavedModels, RefusesWhatDoesNotFit) {
  save();
  const SavedModel model = load_model(folder_);
  EXPECT_THROW(model({}), InvalidArgumentError);
  EXPECT_THROW(model({{"x", zeros({1, 3})}}), InvalidArgumentError);
  EXPECT_THROW(model({{"x", zeros({1, 2}, DType::float64)}}), InvalidArgumentError);
  EXPECT_THROW(model({{"x", zeros({1, 2})}, {"z", zeros({1})}}), InvalidArgumentError);
  EXPECT_THROW(model({{"x", zeros({1, 2})}}, "train"), NotFoundError);
  EXPECT_THROW(load_model(folder_ + "/none"), NotFoundError);
}

TEST_F(SavedModels, ThreadsShareAModelAndItsBytesGoWithIt) {
  save();
  const int64_t before = memory::stats().live;
  {
    const SavedModel model = load_model(folder_);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([model] {
        for (int i = 0; i < 200; ++i) {
          const auto outputs = model({{"x", Tensor::of({1.f, 1.f}, {1, 2})}});
          EXPECT_EQ(outputs.at("y").data<float>()[0], 1024.f);
        }
      });
    }
  }
  EXPECT_EQ(memory::stats().live, before);
}

/// A line through two points, and how it was called.
struct Line : nn::Module {
  Variable slope = add("slope", Tensor(3.f)), offset = add("offset", Tensor(0.5f));
  nn::Dropout drop = add("drop", nn::Dropout(0.5));
  Tensor operator()(const Tensor& x) const { return drop(x * slope + offset); }
};

TEST_F(SavedModels, AModuleIsSavedInEvaluationAndComesBack) {
  const Line line;
  save_model(folder_, line, {{"x", DType::float32, {kUnknownDim}}}, {.outputs = {"y"}});
  EXPECT_TRUE(line.is_training());
  const SavedModel model = load_model(folder_);
  EXPECT_EQ(model.signatures()[0].name, "serving_default");
  const Tensor y = model({{"x", Tensor::of({1.f, 2.f})}}).at("y");
  EXPECT_EQ(y.data<float>()[1], 6.5f);
  EXPECT_FALSE(model.changes_state());
}

TEST_F(SavedModels, AModelOfFunctionsSharesTheirVariables) {
  const Line line;
  Variable calls(Tensor(int64_t{0}));
  const auto counted = [&](const Tensor& x, const Tensor& by) {
    calls.assign_add(Tensor(int64_t{1}));
    return std::pair(line(x) * by, calls.value());
  };
  const TensorSpec x{"x", DType::float32, {kUnknownDim}}, by{"by", DType::float32, {}};
  line.eval();
  const SavedModel model =
      make_model({signature(line, {x}), signature(counted, {x, by}, {.name = "counted"})});
  EXPECT_TRUE(model.changes_state());
  auto out = model({{"x", Tensor::of({1.f})}, {"by", Tensor(2.f)}}, "counted");
  EXPECT_EQ(out.at("output_0").data<float>()[0], 7.f);
  EXPECT_EQ(out.at("output_1").item<int64_t>(), 1);
  Variable(line.slope).assign(Tensor(4.f));
  EXPECT_EQ(model({{"x", Tensor::of({1.f})}}).at("output_0").data<float>()[0], 4.5f);
  EXPECT_EQ(calls.value().item<int64_t>(), 1);

  EXPECT_THROW(make_model({signature(line, {x}), signature(line, {x})}), InvalidArgumentError);
  EXPECT_THROW(make_model({signature(line, {x, by})}), InvalidArgumentError);
  EXPECT_THROW(make_model({signature(line, {x}, {.outputs = {"a", "b"}})}), InvalidArgumentError);
  EXPECT_THROW(make_model({signature(line, {{"x", DType::invalid, {}}})}), InvalidArgumentError);
}

TEST_F(SavedModels, AreTensorFlowsWhereItHasTheOps) {
  const Line line;
  const TensorSpec x{"x", DType::float32, {2, 2}};
  EXPECT_EQ(save_model(folder_, line, {x}), "");
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/saved_model.pb"));
  const auto logarithm = [](const Tensor& m) { return call("logm", {m}); };
  EXPECT_NE(save_model(folder_, logarithm, {x}).find("logm"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/saved_model.pb"));
  EXPECT_EQ(load_model(folder_).signatures().size(), 1u);
}

TEST_F(SavedModels, WhatTheProgramComputesItselfRunsInAModelAndIsNotSaved) {
  const auto rising = [](const Tensor& x) { return nn::isotonic_regression(x).first; };
  const TensorSpec x{"x", DType::float32, {1, 3}};
  const SavedModel model = make_model({signature(rising, {x})});
  const Tensor y = model({{"x", Tensor::of({3.f, 1.f, 2.f}, {1, 3})}}).at("output_0");
  EXPECT_EQ(y.data<float>()[0], 3.f);
  EXPECT_EQ(y.data<float>()[2], 1.5f);
  save_model(folder_, Line(), {{"x", DType::float32, {}}});
  try {
    save_model(folder_, rising, {x});
    ADD_FAILURE() << "it was saved";
  } catch (const InvalidArgumentError& error) {
    EXPECT_NE(std::string_view(error.what()).find("isotonic_regression"), std::string_view::npos);
  }
  EXPECT_EQ(load_model(folder_)({{"x", Tensor(1.f)}}).at("output_0").item<float>(), 3.5f);
}

TEST(ModelWriters, WantOneNameAnInput) {
  trace::GraphBuilder builder("same");
  const Tensor x = builder.add_input(DType::float32, {2});
  io::ModelWriter writer;
  const uint64_t function = writer.add_function("same", *builder.finish({&x, 1}));
  EXPECT_THROW(writer.add_signature("s", function, {}, {"y"}), InvalidArgumentError);
  EXPECT_THROW(writer.add_signature("s", function, {"x"}, {}), InvalidArgumentError);
  EXPECT_THROW(writer.add_signature("s", 7, {"x"}, {"y"}), InvalidArgumentError);
}

}  // namespace
}  // namespace tidemark
