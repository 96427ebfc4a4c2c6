// Reads what Keras saved and trains what Keras trains: tests/python/test_cpp_keras_files.py.
//
//   keras_files model FILE < x               the model's output
//   keras_files weights FILE < x             the output of modules of our own with its weights
//   keras_files fit EPOCHS < x y             losses and accuracies, then the weights, of two layers
//   keras_files images FOLDER                all pictures in its folders, then their classes
//   keras_files save FOLDER | checkpoint PREFIX     writes a model, or its weights, for Python
#include <tidemark/checkpoint.h>
#include <tidemark/data.h>
#include <tidemark/keras.h>
#include <tidemark/nn.h>
#include <tidemark/optimizers.h>
#include <tidemark/tidemark.h>
#include <tidemark/train.h>

#include "tensor_lines.h"

namespace td = tidemark;

namespace {

using tensor_lines::write;
using Tensors = std::vector<td::Tensor>;

/// The Keras model that the test writes, under its layers' names.
struct Tagger : td::nn::Module {
  td::nn::Embedding words = add("words", td::nn::Embedding(7, 4));
  td::nn::LSTM reader = add("reader", td::nn::LSTM(3));
  td::nn::Dense tag = add("tag", td::nn::Dense(2));
  td::Tensor operator()(const td::Tensor& x) const { return tag(reader(words(x))); }
};

td::nn::Sequential two_layers() {
  return td::nn::Sequential{td::nn::Dense(5, {.activation = "relu"}), td::nn::Dense(3)};
}

void run_weights(const std::string& path, const td::Tensor& x) {
  if (x.dtype() == td::DType::int32) {
    const Tagger model;
    model(x);
    td::keras::load_weights(path, model);
    return write(model(x));
  }
  const td::nn::Sequential model = two_layers();
  model(x);
  td::keras::load_weights(path, model);
  write(model(x));
}

/// Begins with weights that are given, as Keras does in the test.
void run_fit(int64_t epochs, const Tensors& given) {
  const td::Tensor &x = given.at(0), &y = given.at(1);
  const td::nn::Sequential model = two_layers();
  model(x);
  for (size_t i = 0; const auto& one : model.named_variables()) {
    td::Variable(one.variable).assign(given.at(2 + i++));
  }
  const auto batches = td::data::from_tensors({x, y}).batch(8);
  const td::train::History history =
      td::train::fit(model, batches,
                     {.loss = td::losses::SparseCategoricalCrossentropy({.from_logits = true}),
                      .optimizer = td::optimizers::Adam({.learning_rate = 1e-2}),
                      .metrics = {{"accuracy", td::metrics::SparseCategoricalAccuracy()}},
                      .epochs = epochs,
                      .validation = batches.take(1),
                      .out = nullptr});
  for (const char* name : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
    std::vector<float> values;
    for (const auto& logs : history) values.push_back(static_cast<float>(logs.at(name)));
    write(td::Tensor::of(std::span<const float>(values), {epochs}));
  }
  for (const auto& one : model.named_variables()) write(one.variable.value());
}

void run_images(const std::string& folder) {
  const auto pictures =
      td::data::from_image_folder(folder, {.size = {6, 5}, .parallel = 2}).batch(100);
  for (const auto& all : pictures) {
    write(all.at(0));
    write(td::cast(all.at(1), td::DType::float32));
  }
  for (const std::string& name : td::data::image_classes(folder)) std::cerr << name << "\n";
}

void run(const std::string& kind, const std::string& what) {
  if (kind == "images") return run_images(what);
  const Tensors given = tensor_lines::read_all(std::cin);
  if (kind == "model") return write(td::keras::load_model(what)(given).at(0));
  if (kind == "weights") return run_weights(what, given.at(0));
  if (kind == "fit") return run_fit(std::stoll(what), given);
  const td::Tensor x = td::ones({2, 4});
  const td::nn::Sequential model = two_layers();
  write(model(x));
  if (kind == "save") {
    td::save_model(what, model, {{"x", td::DType::float32, {-1, 4}}}, {.outputs = {"y"}});
    return;
  }
  const td::Variable step(td::Tensor(int64_t{7}));
  td::Checkpoint({{"model", model}, {"step", step}}).save(what);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: keras_files KIND WHAT");
  run(argv[1], argv[2]);
} catch (const td::Error& error) {
  std::cerr << error.what() << "\n";
  return 3;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
