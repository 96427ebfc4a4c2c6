// Trains a convolutional classifier on Fashion-MNIST, without Python.
//
//   build/fashion_mnist [PICTURES] [EPOCHS]     all 60,000 and 3 unless told
//
// The files are those of Debian's package dataset-fashion-mnist, or of the folder in FASHION_MNIST.
#include <tidemark/tidemark.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace tm = tidemark;

constexpr int64_t kBatch = 100;

/// The first `count` items (0: all) of an IDX file: a magic number, the sizes, then bytes.
std::vector<uint8_t> read_idx(const std::string& path, int rank, int64_t& count) {
  const auto close = [](gzFile f) { gzclose(f); };
  const std::unique_ptr<gzFile_s, decltype(close)> file(gzopen(path.c_str(), "rb"), close);
  if (!file) throw std::runtime_error(path + " cannot be opened; install dataset-fashion-mnist");
  const auto number = [&] {
    unsigned char b[4];
    if (gzread(file.get(), b, 4) != 4) throw std::runtime_error(path + " ends too early");
    return int64_t(b[0]) << 24 | b[1] << 16 | b[2] << 8 | b[3];
  };
  if (number() != 0x800 + rank) throw std::runtime_error(path + " is no IDX file of such bytes");
  const int64_t there = number();
  count = count > 0 ? std::min(count, there) : there;
  int64_t bytes = count;
  for (int i = 1; i < rank; ++i) bytes *= number();
  std::vector<uint8_t> values(static_cast<size_t>(bytes));
  if (gzread(file.get(), values.data(), static_cast<unsigned>(bytes)) != bytes)
    throw std::runtime_error(path + " ends too early");
  return values;
}

struct Pictures {
  tm::Tensor pixels, labels;  // uint8 [n, 28, 28, 1] and [n]
  int64_t count = 0;

  Pictures(const std::string& part, int64_t wanted) : count(wanted) {
    const char* given = std::getenv("FASHION_MNIST");
    const std::string folder = given ? given : "/usr/share/datasets/fashion-mnist";
    const auto x = read_idx(folder + "/" + part + "-images-idx3-ubyte.gz", 3, count);
    const auto y = read_idx(folder + "/" + part + "-labels-idx1-ubyte.gz", 1, count);
    pixels = tm::Tensor::of(std::span<const uint8_t>(x), {count, 28, 28, 1});
    labels = tm::Tensor::of(std::span<const uint8_t>(y), {count});
  }
};

/// Two convolutions, two dense layers, and Adam.
struct Classifier {
  std::vector<tm::Variable> weights, means, squares;
  tm::Variable steps{tm::Tensor(0.f)};

  Classifier() {
    const auto layer = [&](const tm::Shape& shape, int64_t inputs) {
      add(tm::random::normal(shape, 0, std::sqrt(2.0 / double(inputs))));
      add(tm::zeros({shape[shape.rank() - 1]}));
    };
    layer({3, 3, 1, 32}, 9);
    layer({3, 3, 32, 64}, 9 * 32);
    layer({7 * 7 * 64, 128}, 7 * 7 * 64);
    layer({128, 10}, 128);
  }

  void add(const tm::Tensor& value) {
    weights.emplace_back(value);
    means.emplace_back(tm::zeros(value.shape()), tm::VariableOptions{.trainable = false});
    squares.emplace_back(tm::zeros(value.shape()), tm::VariableOptions{.trainable = false});
  }

  tm::Tensor logits(const tm::Tensor& pixels) const {
    tm::Tensor h = tm::cast(pixels, tm::DType::float32) * (1.f / 255.f);
    for (size_t i = 0; i < 4; i += 2) {
      h = tm::relu(tm::convolution(h, weights[i], {1, 1}, "SAME") + weights[i + 1]);
      h = tm::max_pool(h, {2, 2}, {2, 2});
    }
    h = tm::reshape(h, tm::Tensor::of({-1, 7 * 7 * 64}));
    h = tm::relu(tm::matmul(h, weights[4]) + weights[5]);
    return tm::matmul(h, weights[6]) + weights[7];
  }

  tm::Tensor step(const tm::Tensor& pixels, const tm::Tensor& labels) {
    tm::GradientTape tape;
    const tm::Tensor wanted = tm::cast(labels, tm::DType::int32);
    const tm::Tensor loss = tm::mean(tm::sparse_softmax_cross_entropy(logits(pixels), wanted)[0]);
    const std::vector<tm::GradientSource> sources(weights.begin(), weights.end());
    const std::vector<tm::Tensor> gradients = tape.gradient(loss, sources);
    steps.assign_add(tm::Tensor(1.f));
    const tm::Tensor rate = tm::sqrt(1.f - tm::pow(tm::Tensor(0.999f), steps)) /
                            (1.f - tm::pow(tm::Tensor(0.9f), steps)) * 1e-3f;
    for (size_t i = 0; i < weights.size(); ++i) {
      means[i].assign_add((gradients[i] - means[i]) * 0.1f);
      squares[i].assign_add((tm::square(gradients[i]) - squares[i]) * 0.001f);
      weights[i].assign_sub(means[i] * rate / (tm::sqrt(squares[i]) + 1e-7f));
    }
    return loss;
  }
};

int run(int64_t pictures, int epochs) {
  const Pictures train("train", pictures), test("t10k", pictures);
  Classifier model;
  auto step = tm::function([&](tm::Tensor x, tm::Tensor y) { return model.step(x, y); }, "step");
  auto guess = tm::function([&](tm::Tensor x) { return tm::argmax(model.logits(x), 1); }, "guess");
  const auto start = std::chrono::steady_clock::now();
  float accuracy = 0;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const tm::Tensor order = tm::random::shuffle(tm::range(0, train.count, 1));
    float loss = 0;
    for (int64_t at = 0; at + kBatch <= train.count; at += kBatch) {
      const tm::Tensor rows = tm::slice(order, tm::Tensor::of({at}), tm::Tensor::of({kBatch}));
      loss = step(tm::gather(train.pixels, rows), tm::gather(train.labels, rows)).item<float>();
    }
    int64_t right = 0, seen = 0;
    for (int64_t at = 0; at + kBatch <= test.count; at += kBatch, seen += kBatch) {
      const tm::Tensor rows = tm::range(at, at + kBatch, 1);
      const tm::Tensor wanted = tm::cast(tm::gather(test.labels, rows), tm::DType::int64);
      const tm::Tensor same = tm::equal(guess(tm::gather(test.pixels, rows)), wanted);
      right += tm::sum(tm::cast(same, tm::DType::int64)).item<int64_t>();
    }
    accuracy = float(right) / float(std::max<int64_t>(seen, 1));
    std::cout << "epoch " << epoch << ": loss " << loss << ", test accuracy " << accuracy
              << std::endl;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::cout << int64_t(double(train.count * epochs) / took.count()) << " pictures a second, "
            << tm::memory::stats().peak / (1 << 20) << " MiB at the peak\n";
  return accuracy > 0.5f ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc > 1 ? std::atoll(argv[1]) : 0, argc > 2 ? std::atoi(argv[2]) : 3);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 2;
}
