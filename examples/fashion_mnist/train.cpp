// Trains a convolutional classifier on Fashion-MNIST, without Python.
//
//   build/fashion_mnist [PICTURES] [EPOCHS]     all 60,000 and 3 unless told
#include <tidemark/data.h>
#include <tidemark/nn.h>
#include <tidemark/optimizers.h>
#include <tidemark/tidemark.h>
#include <tidemark/train.h>

#include <chrono>
#include <iostream>

namespace td = tidemark;
namespace nn = tidemark::nn;
using td::optimizers::schedules::CosineDecay;

/// The bytes of an IDX file, without the header: of Debian's package dataset-fashion-mnist, or of
/// the folder in FASHION_MNIST.
td::Tensor read(const std::string& name, int64_t header) {
  const char* folder = std::getenv("FASHION_MNIST");
  const std::string path =
      std::string(folder ? folder : "/usr/share/datasets/fashion-mnist") + "/" + name + "-ubyte.gz";
  const td::Tensor bytes = td::decode_compressed(td::read_file(path), "GZIP");
  const td::Tensor all = td::decode_raw(bytes, td::DType::uint8);
  return all.rows(header, all.dim(0) - header);
}

td::data::Pipeline pictures(const std::string& part, int64_t most) {
  const td::Tensor labels = read(part + "-labels-idx1", 8);
  const td::Tensor all = read(part + "-images-idx3", 16).reshaped({labels.dim(0), 28, 28, 1});
  const int64_t count = most > 0 ? std::min(most, labels.dim(0)) : labels.dim(0);
  return td::data::from_tensors({all.rows(0, count), labels.rows(0, count)});
}

int main(int argc, char** argv) try {
  const int64_t count = argc > 1 ? std::atoll(argv[1]) : 0;
  const int64_t epochs = argc > 2 ? std::atoll(argv[2]) : 3;
  const nn::Sequential model{
      [](const td::Tensor& x) { return td::cast(x, td::DType::float32) * (1.f / 255.f); },
      nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}),
      nn::MaxPooling2D(),
      nn::Conv2D(64, 3, {.padding = "same", .activation = "relu"}),
      nn::MaxPooling2D(),
      nn::Flatten(),
      nn::Dropout(0.3),
      nn::Dense(128, {.activation = "relu"}),
      nn::Dropout(0.3),
      nn::Dense(10)};
  const auto train = pictures("train", count).shuffle(60'000).batch(100, {.drop_remainder = true});
  const auto steps = static_cast<double>(epochs * train.cardinality());
  const auto start = std::chrono::steady_clock::now();
  const td::train::History history = td::train::fit(
      model, train,
      {.loss = td::losses::SparseCategoricalCrossentropy({.from_logits = true}),
       .optimizer = td::optimizers::Adam({.learning_rate = CosineDecay(2e-3, steps)}),
       .metrics = {{"accuracy", td::metrics::SparseCategoricalAccuracy()}},
       .epochs = epochs,
       .validation = pictures("t10k", count).batch(100)});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::cout << model << int64_t(100 * steps / took.count()) << " pictures a second, "
            << td::format_bytes(td::memory::stats().peak) << " at the peak\n";
  return history.back().at("val_accuracy") > 0.5 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 2;
}
