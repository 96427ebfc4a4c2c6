// Trains a convolutional classifier on Fashion-MNIST, without Python.
//
//   build/fashion_mnist [PICTURES] [EPOCHS]     all 60,000 and 3 unless told
#include <tidemark/data.h>
#include <tidemark/nn.h>
#include <tidemark/optimizers.h>
#include <tidemark/tidemark.h>

#include <chrono>
#include <iostream>

#include "idx.h"

namespace td = tidemark;
namespace nn = tidemark::nn;

int main(int argc, char** argv) try {
  const int64_t pictures = argc > 1 ? std::atoll(argv[1]) : 0;
  const int epochs = argc > 2 ? std::atoi(argv[2]) : 3;
  const auto train = td::data::from_tensors(fashion_mnist::read("train", pictures))
                         .shuffle(60'000)
                         .batch(100, {.drop_remainder = true});
  const auto test = td::data::from_tensors(fashion_mnist::read("t10k", pictures)).batch(100);

  const nn::Sequential model{
      [](const td::Tensor& x) { return td::cast(x, td::DType::float32) * (1.f / 255.f); },
      nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}),
      nn::MaxPooling2D(),
      nn::Conv2D(64, 3, {.padding = "same", .activation = "relu"}),
      nn::MaxPooling2D(),
      nn::Flatten(),
      nn::Dense(128, {.activation = "relu"}),
      nn::Dense(10)};
  const td::optimizers::Adam adam({.learning_rate = 1e-3});
  const td::metrics::SparseCategoricalAccuracy accuracy;
  model(td::zeros({1, 28, 28, 1}));
  std::cout << model;

  auto step = td::function([&](td::Tensor x, td::Tensor y) {
    td::GradientTape tape;
    const td::Tensor loss = td::reduce_mean(nn::sparse_softmax_cross_entropy(y, model(x)));
    adam.apply(tape.gradient(loss, model.parameters()), model.parameters());
    return loss;
  });
  auto look = td::function([&](td::Tensor x, td::Tensor y) { accuracy.update(y, model(x)); });

  const auto start = std::chrono::steady_clock::now();
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    td::Tensor loss;
    for (auto batch : train) loss = step(batch[0], batch[1]);
    accuracy.reset();
    for (auto batch : test) look(batch[0], batch[1]);
    std::cout << "epoch " << epoch << ": loss " << loss.item<float>() << ", test accuracy "
              << accuracy.result().item<float>() << std::endl;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::cout << int64_t(double(100 * train.cardinality() * epochs) / took.count())
            << " pictures a second, " << td::memory::stats().peak / (1 << 20)
            << " MiB at the peak\n";
  return accuracy.result().item<float>() > 0.5f ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 2;
}
