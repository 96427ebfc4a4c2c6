// A small GPT that learns a text by its characters, and then writes.
//
//   build/example_characters [FILE] [STEPS]      a few lines of its own and 150 unless told
#include <tidemark/nn.h>
#include <tidemark/optimizers.h>
#include <tidemark/tidemark.h>

#include <iostream>

namespace td = tidemark;
namespace nn = tidemark::nn;

constexpr int64_t kWidth = 64, kLength = 32, kBatch = 16, kLayers = 2;

struct Block : nn::Module {
  nn::LayerNorm before = add("before", nn::LayerNorm()), after = add("after", nn::LayerNorm());
  nn::MultiHeadAttention attention = add("attention", nn::MultiHeadAttention(4, kWidth / 4));
  nn::Sequential dense = add(
      "dense", nn::Sequential(nn::Dense(4 * kWidth, {.activation = "gelu"}), nn::Dense(kWidth)));
  td::Tensor operator()(const td::Tensor& x) const {
    const td::Tensor normal = before(x);
    const td::Tensor seen = x + attention(normal, normal, {.causal = true});
    return seen + dense(after(seen));
  }
};

struct Gpt : nn::Module {
  nn::Embedding characters = add("characters", nn::Embedding(128, kWidth));
  nn::Embedding places = add("places", nn::Embedding(kLength, kWidth));
  nn::Sequential blocks = add("blocks", nn::Sequential());
  nn::Dense out = add("out", nn::Dense(128));

  Gpt() {
    for (int64_t i = 0; i < kLayers; ++i) blocks.append(Block());
  }
  td::Tensor operator()(const td::Tensor& ids) const {
    return out(blocks(characters(ids) + places(td::arange(kLength))));
  }
};

int main(int argc, char** argv) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "the tide comes in, the tide goes out, and leaves a mark. ";
  if (argc > 1) text = td::read_file(argv[1]).string_at(0);
  std::vector<int32_t> ids;
  for (const char c : text) ids.push_back(c & 127);
  const td::Tensor all = td::Tensor::of(std::span<const int32_t>(ids), {int64_t(ids.size())});

  td::random::set_seed(1);
  const Gpt model;
  const td::optimizers::AdamW adam({.learning_rate = 3e-3, .common = {.global_clipnorm = 1.0}});
  auto step = td::function([&](td::Tensor starts) {
    const td::Tensor first = td::expand_dims(starts, 1);
    const td::Tensor given = td::gather(all, first + td::arange(kLength));
    const td::Tensor wanted = td::gather(all, first + td::arange(1, kLength + 1));
    td::GradientTape tape;
    const td::Tensor each = nn::sparse_softmax_cross_entropy(wanted, model(given));
    const td::Tensor loss = td::reduce_mean(each);
    adam.apply(tape.gradient(loss, model.parameters()), model.parameters());
    return loss;
  });
  const int64_t starts = all.dim(0) - kLength - 1;
  float loss = 0;
  for (int i = 0, steps = argc > 2 ? std::atoi(argv[2]) : 150; i < steps; ++i) {
    loss = step(td::random::uniform_int({kBatch}, 0, starts)).item<float>();
    if (i % 50 == 0) std::cout << "step " << i << ": loss " << loss << "\n";
  }

  std::vector<int32_t> written(ids.begin(), ids.begin() + kLength);
  for (int i = 0; i < 80; ++i) {
    const std::span<const int32_t> last(written.end() - kLength, written.end());
    const td::Tensor next =
        td::argmax(model(td::Tensor::of(last, {1, kLength})), -1, td::DType::int32);
    written.push_back(next.data<int32_t>()[kLength - 1]);
  }
  std::cout << std::string(written.begin(), written.end()) << "\n";
  return loss < 2.f ? 0 : 1;
}
