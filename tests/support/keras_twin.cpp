// Trains what Keras trains, on the same numbers: tests/python/test_cpp_keras.py compares the two.
//
//   keras_twin KIND NAME < tensors > results
//
// A tensor is a line (tensor_lines.h). Of a layer: the input, what is
// wanted, the weights; it answers with the loss of each step, the outputs in evaluation, and the
// weights in the end. Of an optimizer: x, y and the weights of a Dense layer. Of a loss or metric:
// labels and predictions, and weights of rows where there are more than two. Of an initializer: the
// sizes. Of "dropout RATE": x. Of "train ACTIVATION" and a loss: see run_loss_training. Of an
// activation: x.
#include <tidemark/nn.h>
#include <tidemark/optimizers.h>
#include <tidemark/tidemark.h>

#include <functional>
#include <map>

#include "tensor_lines.h"

namespace td = tidemark;
namespace nn = tidemark::nn;

namespace {

constexpr int kSteps = 20;

using tensor_lines::write;
using Tensors = std::vector<td::Tensor>;
using Layer = std::pair<nn::Module, std::function<td::Tensor(const td::Tensor&)>>;

template <class L>
Layer layer(L made) {
  return {made, made};
}

std::map<std::string, std::function<Layer()>> layers() {
  using Attention = nn::MultiHeadAttention;
  return {
      {"dense", [] { return layer(nn::Dense(5, {.activation = "relu"})); }},
      {"dense_plain", [] { return layer(nn::Dense(5, {.use_bias = false})); }},
      {"conv1d", [] { return layer(nn::Conv1D(4, 3, {.padding = "causal"})); }},
      {"conv2d", [] { return layer(nn::Conv2D(4, 3, {.strides = 2, .padding = "same"})); }},
      {"conv2d_groups",
       [] {
         return layer(nn::Conv2D(4, {3, 2}, {.groups = 2}));
       }},
      {"conv1d_dilated",
       [] {
         return layer(nn::Conv1D(4, 3, {.padding = "same", .dilation_rate = 2, .use_bias = false}));
       }},
      {"conv3d", [] { return layer(nn::Conv3D(2, 2, {.activation = "tanh"})); }},
      {"conv1d_transpose", [] { return layer(nn::Conv1DTranspose(3, 3, {.strides = 2})); }},
      {"conv2d_transpose",
       [] { return layer(nn::Conv2DTranspose(3, 3, {.strides = 2, .padding = "same"})); }},
      {"conv3d_transpose", [] { return layer(nn::Conv3DTranspose(2, 2)); }},
      {"conv3d_transpose_strides",
       [] { return layer(nn::Conv3DTranspose(2, 3, {.strides = 2, .padding = "same"})); }},
      {"depthwise2d_strides", [] { return layer(nn::DepthwiseConv2D(3, {.strides = 2})); }},
      {"depthwise1d", [] { return layer(nn::DepthwiseConv1D(3)); }},
      {"depthwise2d",
       [] { return layer(nn::DepthwiseConv2D(3, {.padding = "same", .depth_multiplier = 2})); }},
      {"max_pooling2d", [] { return layer(nn::MaxPooling2D()); }},
      {"max_pooling3d", [] { return layer(nn::MaxPooling3D()); }},
      {"average_pooling1d", [] { return layer(nn::AveragePooling1D(2)); }},
      {"max_pooling1d",
       [] { return layer(nn::MaxPooling1D(3, {.strides = nn::Sizes(1), .padding = "same"})); }},
      {"average_pooling2d",
       [] {
         return layer(nn::AveragePooling2D({2, 3}));
       }},
      {"average_pooling3d", [] { return layer(nn::AveragePooling3D(2, {.padding = "same"})); }},
      {"global_average", [] { return layer(nn::GlobalAveragePooling()); }},
      {"global_max", [] { return layer(nn::GlobalMaxPooling()); }},
      {"global_average1d", [] { return layer(nn::GlobalAveragePooling()); }},
      {"global_max3d", [] { return layer(nn::GlobalMaxPooling()); }},
      {"batch_norm", [] { return layer(nn::BatchNorm({.momentum = 0.9})); }},
      {"batch_norm_plain", [] { return layer(nn::BatchNorm({.center = false, .scale = false})); }},
      {"layer_norm", [] { return layer(nn::LayerNorm()); }},
      {"rms_norm", [] { return layer(nn::RMSNorm()); }},
      {"group_norm", [] { return layer(nn::GroupNorm({.groups = 2})); }},
      {"group_norm_each", [] { return layer(nn::GroupNorm({.groups = -1})); }},
      {"embedding", [] { return layer(nn::Embedding(7, 4)); }},
      {"lstm", [] { return layer(nn::LSTM(3)); }},
      {"lstm_sequences", [] { return layer(nn::LSTM(3, {.return_sequences = true})); }},
      {"gru", [] { return layer(nn::GRU(3)); }},
      {"gru_sequences", [] { return layer(nn::GRU(3, {.return_sequences = true})); }},
      {"lstm_plain",
       [] {
         return layer(nn::LSTM(3, {.recurrent_activation = "hard_sigmoid", .use_bias = false}));
       }},
      {"dropout_of_nothing", [] { return layer(nn::Dropout(0)); }},
      {"flatten", [] { return layer(nn::Flatten()); }},
      {"reshape",
       [] {
         return layer(nn::Reshape({-1, 2}));
       }},
      {"attention",
       [] {
         const Attention made(2, 3);
         return Layer{made, [=](const td::Tensor& x) { return made(x, x, {.causal = true}); }};
       }},
      {"attention_masked",
       [] {
         const Attention made(2, 3, {.value_dim = 2, .output_size = 6, .use_bias = false});
         return Layer{made, [=](const td::Tensor& x) {
                        const td::Tensor band = td::band_part(td::ones({2, 5, 5}), 1, 1);
                        return made(x, x * 0.5f, {.key = x * 2.f, .mask = td::greater(band, 0.f)});
                      }};
       }},
      {"mixed_precision",
       [] {
         const auto in_half =
             nn::Sequential(nn::Cast(td::DType::bfloat16), nn::Dense(6, {.activation = "relu"}),
                            nn::LayerNorm(), nn::Dense(2), nn::Cast(td::DType::float32));
         return layer(in_half);
       }},
      {"sequential",
       [] {
         return layer(nn::Sequential(nn::Residual(nn::Dense(6, {.activation = "gelu"})),
                                     nn::LayerNorm(), nn::Dense(2, {.activation = "softmax"})));
       }},
  };
}

std::map<std::string, td::losses::Loss> all_losses() {
  using namespace td::losses;
  return {
      {"MeanSquaredError", MeanSquaredError()},
      {"MeanAbsoluteError", MeanAbsoluteError()},
      {"MeanAbsolutePercentageError", MeanAbsolutePercentageError()},
      {"MeanSquaredLogarithmicError", MeanSquaredLogarithmicError()},
      {"Huber", Huber(0.3)},
      {"LogCosh", LogCosh()},
      {"CosineSimilarity", CosineSimilarity()},
      {"KLDivergence", KLDivergence()},
      {"Poisson", Poisson()},
      {"Hinge", Hinge()},
      {"SquaredHinge", SquaredHinge()},
      {"CategoricalHinge", CategoricalHinge()},
      {"BinaryCrossentropy", BinaryCrossentropy({.label_smoothing = 0.1})},
      {"BinaryCrossentropy logits", BinaryCrossentropy({.from_logits = true})},
      {"CategoricalCrossentropy", CategoricalCrossentropy({.label_smoothing = 0.1})},
      {"CategoricalCrossentropy logits", CategoricalCrossentropy({.from_logits = true})},
      {"SparseCategoricalCrossentropy", SparseCategoricalCrossentropy()},
      {"SparseCategoricalCrossentropy logits",
       SparseCategoricalCrossentropy({.from_logits = true})},
  };
}

/// What a metric says after each step of a training that it watches: eagerly first, then inside of
/// a traced function. Given rows of labels and predictions, the latter drift from step to step.
template <class Metric>
void run_metric(const Metric& metric, const Tensors& given) {
  const td::Tensor weights = given.size() > 2 ? given[2] : td::Tensor();
  const bool is_real = given[1].dtype() == td::DType::float32;
  const bool is_row_to_row = given[0].rank() == given[1].rank();
  const td::Tensor growth = is_row_to_row ? 0.01f * td::cast(given[0], td::DType::float32) + 0.005f
                                          : 0.01f * td::cast(given[1], td::DType::float32);
  td::Variable drift(td::zeros(given[1].shape()));
  const auto step = [&] {
    metric.update(given[0], is_real ? given[1] * (1.f + drift) : given[1], weights);
    drift.assign_add(growth);
    return metric.result();
  };
  auto traced = td::function(step, "step");
  for (int i = 0; i < kSteps; ++i) write(i < kSteps / 4 ? step() : traced());
  metric.reset();
  write(metric.result());
}

std::map<std::string, std::function<void(const Tensors&)>> metrics() {
  using namespace td::metrics;
  return {
      {"Mean",
       [](const Tensors& t) {
         const Mean mean;
         mean.update(t[1], t.size() > 2 ? t[2] : td::Tensor());
         write(mean.result());
       }},
      {"Accuracy", [](const Tensors& t) { run_metric(Accuracy(), t); }},
      {"BinaryAccuracy", [](const Tensors& t) { run_metric(BinaryAccuracy(), t); }},
      {"CategoricalAccuracy", [](const Tensors& t) { run_metric(CategoricalAccuracy(), t); }},
      {"SparseCategoricalAccuracy",
       [](const Tensors& t) { run_metric(SparseCategoricalAccuracy(), t); }},
      {"SparseTopKCategoricalAccuracy",
       [](const Tensors& t) { run_metric(SparseTopKCategoricalAccuracy(2), t); }},
      {"TopKCategoricalAccuracy",
       [](const Tensors& t) { run_metric(TopKCategoricalAccuracy(2), t); }},
      {"MeanSquaredError", [](const Tensors& t) { run_metric(MeanSquaredError(), t); }},
      {"MeanAbsolutePercentageError",
       [](const Tensors& t) { run_metric(MeanAbsolutePercentageError(), t); }},
      {"MeanSquaredLogarithmicError",
       [](const Tensors& t) { run_metric(MeanSquaredLogarithmicError(), t); }},
      {"LogCoshError", [](const Tensors& t) { run_metric(LogCoshError(), t); }},
      {"CosineSimilarity", [](const Tensors& t) { run_metric(CosineSimilarity(), t); }},
      {"KLDivergence", [](const Tensors& t) { run_metric(KLDivergence(), t); }},
      {"Poisson", [](const Tensors& t) { run_metric(Poisson(), t); }},
      {"Hinge", [](const Tensors& t) { run_metric(Hinge(), t); }},
      {"SquaredHinge", [](const Tensors& t) { run_metric(SquaredHinge(), t); }},
      {"CategoricalHinge", [](const Tensors& t) { run_metric(CategoricalHinge(), t); }},
      {"BinaryCrossentropy",
       [](const Tensors& t) { run_metric(BinaryCrossentropy({.label_smoothing = 0.1}), t); }},
      {"CategoricalCrossentropy",
       [](const Tensors& t) { run_metric(CategoricalCrossentropy({.from_logits = true}), t); }},
      {"SparseCategoricalCrossentropy",
       [](const Tensors& t) { run_metric(SparseCategoricalCrossentropy(), t); }},
      {"AUC", [](const Tensors& t) { run_metric(AUC(), t); }},
      {"AUC of 11", [](const Tensors& t) { run_metric(AUC(11), t); }},
      {"MeanAbsoluteError", [](const Tensors& t) { run_metric(MeanAbsoluteError(), t); }},
      {"RootMeanSquaredError", [](const Tensors& t) { run_metric(RootMeanSquaredError(), t); }},
      {"Precision", [](const Tensors& t) { run_metric(Precision(), t); }},
      {"Recall", [](const Tensors& t) { run_metric(Recall(), t); }},
  };
}

std::map<std::string, std::shared_ptr<td::optimizers::Optimizer>> all_optimizers() {
  using namespace td::optimizers;
  using namespace td::optimizers::schedules;
  const auto sgd = [](SGDOptions options) { return std::make_shared<SGD>(options); };
  const auto adam = [](AdamOptions options) { return std::make_shared<Adam>(options); };
  return {
      {"sgd", sgd({})},
      {"momentum", sgd({.momentum = 0.9})},
      {"nesterov", sgd({.momentum = 0.9, .nesterov = true})},
      {"adam", adam({})},
      {"amsgrad", adam({.learning_rate = 0.01, .amsgrad = true})},
      {"adamw", std::make_shared<AdamW>(AdamOptions{.learning_rate = 0.01})},
      {"rmsprop", std::make_shared<RMSprop>()},
      {"rmsprop_centered",
       std::make_shared<RMSprop>(RMSpropOptions{.momentum = 0.5, .centered = true})},
      {"adagrad", std::make_shared<Adagrad>()},
      {"lion", std::make_shared<Lion>()},
      {"adafactor", std::make_shared<Adafactor>()},
      {"clipnorm", sgd({.common = {.clipnorm = 0.05}})},
      {"global_clipnorm", sgd({.common = {.global_clipnorm = 0.05}})},
      {"clipvalue", sgd({.common = {.clipvalue = 0.01}})},
      {"accumulate", adam({.common = {.gradient_accumulation_steps = 3}})},
      {"scaled", sgd({.common = {.loss_scale_factor = 8}})},
      {"dynamic_scale", sgd({.common = {.dynamic_scale_growth_steps = 6, .initial_scale = 8}})},
      {"momentum_class", std::make_shared<Momentum>()},
      {"ema", sgd({.common = {.use_ema = true, .ema_momentum = 0.8}})},
      {"exponential", sgd({.learning_rate = ExponentialDecay(0.1, 5, 0.5, {.staircase = true})})},
      {"inverse_time", sgd({.learning_rate = InverseTimeDecay(0.1, 5, 0.5)})},
      {"polynomial", sgd({.learning_rate = PolynomialDecay(0.1, 10, {.power = 2})})},
      {"piecewise", sgd({.learning_rate = PiecewiseConstantDecay({5, 9}, {0.1, 0.05, 0.2})})},
      {"cosine", sgd({.learning_rate = CosineDecay(
                          0.01, 12, {.alpha = 0.1, .warmup_target = 0.1, .warmup_steps = 4})})},
  };
}

/// Steps eagerly first, then by a traced function: both must do the same.
template <class Step>
void train(const Step& step) {
  auto traced = td::function(step, "step");
  std::vector<float> losses;
  for (int i = 0; i < kSteps; ++i) {
    losses.push_back((i < kSteps / 4 ? step() : traced()).template item<float>());
  }
  write(td::Tensor::of(std::span<const float>(losses), {kSteps}));
}

void set_weights(const nn::Module& module, const Tensors& given, size_t first) {
  const std::vector<nn::NamedVariable> all = module.named_variables();
  if (all.size() != given.size() - first) throw std::runtime_error("another number of weights");
  for (size_t i = 0; i < all.size(); ++i) td::Variable(all[i].variable).assign(given[first + i]);
}

void run_layer(const Layer& made, const Tensors& given) {
  const auto& [module, call] = made;
  call(given[0]);
  set_weights(module, given, 2);
  const td::optimizers::SGD sgd({.learning_rate = 0.05});
  const bool is_trained = !module.parameters().empty();
  train([&] {
    td::GradientTape tape;
    const td::Tensor loss = td::reduce_mean(td::square(call(given[0]) - given[1]));
    if (is_trained) sgd.apply(tape.gradient(loss, module.parameters()), module.parameters());
    return loss;
  });
  module.eval();
  write(call(given[0]));
  for (const nn::NamedVariable& one : module.named_variables()) write(one.variable.value());
}

void run_optimizer(const td::optimizers::Optimizer& optimizer, const Tensors& given) {
  const nn::Dense model(given[1].dim(1));
  model(given[0]);
  set_weights(model, given, 2);
  train([&] {
    td::GradientTape tape;
    const td::Tensor loss = td::reduce_mean(td::square(model(given[0]) - given[1]));
    const td::Tensor scaled = optimizer.scale_loss(loss);
    optimizer.apply(tape.gradient(scaled, model.parameters()), model.parameters());
    return loss;
  });
  for (const nn::NamedVariable& one : model.named_variables()) write(one.variable.value());
  write(td::cast(optimizer.learning_rate(), td::DType::float32));
}

void run_average(const Tensors& given) {
  const auto optimizer = all_optimizers().at("ema");
  const nn::Dense model(given[1].dim(1));
  model(given[0]);
  set_weights(model, given, 2);
  for (int i = 0; i < kSteps; ++i) {
    td::GradientTape tape;
    const td::Tensor loss = td::reduce_mean(td::square(model(given[0]) - given[1]));
    optimizer->apply(tape.gradient(loss, model.parameters()), model.parameters());
  }
  for (const td::Variable& one : model.parameters()) write(optimizer->average_of(one));
}

/// A Dense layer and an activation, trained by a loss: x, labels, weights of the layer and, where
/// there are more, of the rows.
void run_loss_training(const td::losses::Loss& loss, const std::string& activation,
                       const Tensors& given) {
  const nn::Dense model(given[3].dim(0), {.activation = activation});
  model(given[0]);
  set_weights(model, {given[2], given[3]}, 0);
  const td::optimizers::SGD sgd({.learning_rate = 0.05});
  train([&] {
    td::GradientTape tape;
    const td::Tensor found =
        loss(given[1], model(given[0]), given.size() > 4 ? given[4] : td::Tensor());
    sgd.apply(tape.gradient(found, model.parameters()), model.parameters());
    return found;
  });
  for (const nn::NamedVariable& one : model.named_variables()) write(one.variable.value());
}

void run_activation(const nn::Activation& activation, const td::Tensor& x) {
  td::GradientTape tape;
  tape.watch(x);
  const td::Tensor y = activation(x);
  write(y);
  write(tape.gradient(td::reduce_sum(td::square(y)), x));
}

/// What is drawn for a weight whose sizes are given.
void run_initializer(const std::string& name, const td::Tensor& sizes) {
  td::random::set_seed(7);
  write(nn::Initializer(name)(td::Shape(sizes.to_ints())));
}

/// What a step of training makes of x, eagerly and traced, and the gradient of the sum.
void run_dropout(double rate, const td::Tensor& x) {
  td::random::set_seed(7);
  const nn::Dropout drop(rate);
  const auto step = [&](const td::Tensor& given) {
    td::GradientTape tape;
    tape.watch(given);
    const td::Tensor y = drop(given);
    return std::pair(y, tape.gradient(td::reduce_sum(y), given));
  };
  auto traced = td::function(step);
  for (const auto& [y, dx] : {step(x), traced(x)}) {
    write(y);
    write(dx);
  }
}

void run(const std::string& kind, const std::string& name, const Tensors& given) {
  if (kind == "initializer") return run_initializer(name, given[0]);
  if (kind == "dropout") return run_dropout(std::stod(name), given[0]);
  if (kind.starts_with("train ")) {
    return run_loss_training(all_losses().at(name), kind.substr(6), given);
  }
  if (kind == "activation") return run_activation(name, given[0]);
  if (kind == "layer") return run_layer(layers().at(name)(), given);
  if (kind == "optimizer") return run_optimizer(*all_optimizers().at(name), given);
  if (kind == "average") return run_average(given);
  if (kind == "metric") return metrics().at(name)(given);
  td::GradientTape tape;
  tape.watch(given[1]);
  const td::Tensor loss =
      all_losses().at(name)(given[0], given[1], given.size() > 2 ? given[2] : td::Tensor());
  write(loss);
  write(tape.gradient(loss, given[1]));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: keras_twin KIND NAME < tensors");
  run(argv[1], argv[2], tensor_lines::read_all(std::cin));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
