// What examples/fashion_mnist/train.cpp does, in libtorch's words: bench/cases/cpp_fashion_mnist.py
// compiles it against torch's wheel.
//
//   fashion_mnist FOLDER EPOCHS [channels_last]    FOLDER holds the four files, uncompressed
//
// Prints the seconds of the fastest epoch with its validation, and the last accuracy, as JSON.
#include <torch/torch.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <string>

namespace {

constexpr int64_t kBatch = 100;

struct Pictures {
  torch::Tensor images, labels;  // uint8 [n, 1, 28, 28], int64 [n]
};

torch::Tensor read(const std::string& path, int64_t header) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  const auto size = static_cast<int64_t>(bytes.size()) - header;
  TORCH_CHECK(size > 0, path, " cannot be read");
  return torch::from_blob(bytes.data() + header, {size}, torch::kUInt8).clone();
}

Pictures pictures(const std::string& folder, const std::string& part) {
  return {read(folder + "/" + part + "-images-idx3-ubyte", 16).reshape({-1, 1, 28, 28}),
          read(folder + "/" + part + "-labels-idx1-ubyte", 8).to(torch::kInt64)};
}

torch::nn::Sequential classifier() {
  namespace nn = torch::nn;
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(1)), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(32, 64, 3).padding(1)),
                        nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Dropout(0.3),
                        nn::Linear(64 * 49, 128), nn::ReLU(), nn::Dropout(0.3),
                        nn::Linear(128, 10));
}

torch::Tensor as_input(const torch::Tensor& images, bool channels_last) {
  const torch::Tensor x = images.to(torch::kFloat32) * (1.f / 255.f);
  return channels_last ? x.contiguous(torch::MemoryFormat::ChannelsLast) : x;
}

double accuracy_on(torch::nn::Sequential& model, const Pictures& tests, bool channels_last) {
  const torch::NoGradGuard no_gradients;
  model->eval();
  torch::Tensor right = torch::zeros({}, torch::kInt64);
  for (int64_t i = 0; i < tests.labels.size(0); i += kBatch) {
    const torch::Tensor y = tests.labels.slice(0, i, i + kBatch);
    const torch::Tensor x = as_input(tests.images.slice(0, i, i + kBatch), channels_last);
    right += (model->forward(x).argmax(1) == y).sum();
  }
  model->train();
  return static_cast<double>(right.item<int64_t>()) / static_cast<double>(tests.labels.size(0));
}

}  // namespace

int main(int argc, char** argv) try {
  TORCH_CHECK(argc >= 3, "usage: fashion_mnist FOLDER EPOCHS [channels_last]");
  const std::string folder = argv[1];
  const int64_t epochs = std::stoll(argv[2]);
  const bool channels_last = argc > 3;
  const Pictures train = pictures(folder, "train"), tests = pictures(folder, "t10k");
  const int64_t count = train.labels.size(0) / kBatch * kBatch;
  torch::nn::Sequential model = classifier();
  if (channels_last) {
    for (torch::Tensor& one : model->parameters()) {
      if (one.dim() == 4) one.set_data(one.contiguous(torch::MemoryFormat::ChannelsLast));
    }
  }
  torch::optim::Adam adam(model->parameters(), torch::optim::AdamOptions(2e-3).eps(1e-7));
  const auto steps = static_cast<double>(epochs * count / kBatch);
  double fastest = INFINITY, accuracy = 0;
  int64_t step = 0;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    torch::Tensor right = torch::zeros({}, torch::kInt64), sum = torch::zeros({});
    const torch::Tensor order = torch::randperm(count);
    for (int64_t i = 0; i < count; i += kBatch) {
      const torch::Tensor rows = order.slice(0, i, i + kBatch);
      const torch::Tensor y = train.labels.index_select(0, rows);
      const torch::Tensor found =
          model->forward(as_input(train.images.index_select(0, rows), channels_last));
      const torch::Tensor loss = torch::nn::functional::cross_entropy(found, y);
      adam.zero_grad();
      loss.backward();
      const double part = std::cos(M_PI * static_cast<double>(step++) / steps);
      adam.param_groups()[0].options().set_lr(1e-3 * (1 + part));
      adam.step();
      sum += loss.detach();
      right += (found.argmax(1) == y).sum();
    }
    accuracy = accuracy_on(model, tests, channels_last);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, took.count());
    std::cerr << "epoch " << epoch + 1 << ": " << took.count() << " s, loss "
              << sum.item<float>() * kBatch / static_cast<float>(count) << ", accuracy "
              << static_cast<double>(right.item<int64_t>()) / static_cast<double>(count)
              << ", of tests " << accuracy << "\n";
  }
  std::cout << "{\"epoch_s\": " << fastest << ", \"accuracy\": " << accuracy << "}\n";
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
