// Saves a model of its own for tests/python/test_cpp_written_models.py, and writes what it was
// asked and answered, a line each.
//
//   written_models NAME FOLDER
#include <tidemark/composed.h>
#include <tidemark/control_flow.h>
#include <tidemark/io.h>
#include <tidemark/nn.h>
#include <tidemark/saved_model.h>
#include <tidemark/session.h>

#include <functional>
#include <map>

#include "tensor_lines.h"

namespace td = tidemark;
namespace nn = tidemark::nn;
using td::Tensor;

namespace {

using Shown = std::function<void(const std::string& folder)>;

/// Asks the model, saves it, and writes question and answer.
template <class Model>
void show(const std::string& folder, const Model& model, td::Shape declared, td::Shape asked,
          td::DType dtype = td::DType::float32) {
  const Tensor drawn = td::random::normal(asked);
  const Tensor x = dtype == td::DType::float32 ? drawn : td::cast(td::abs(drawn * 3.f), dtype);
  if constexpr (std::is_base_of_v<nn::Module, Model>) {
    model(x);
    model.eval();
  }
  tensor_lines::write(td::cast(x, td::DType::float32));
  tensor_lines::write(model(x));
  std::cerr << td::save_model(folder, model, {{"x", dtype, std::move(declared)}},
                              {.outputs = {"y"}});
}

void perceptron(const std::string& folder) {
  show(folder,
       nn::Sequential{nn::Dense(8, {.activation = "gelu"}), nn::LayerNorm(),
                      nn::Dense(8, {.activation = "swish"}), nn::Dropout(0.5), nn::RMSNorm(),
                      nn::Dense(3, {.activation = "softmax"})},
       {-1, 5}, {4, 5});
}

void pictures(const std::string& folder) {
  show(folder,
       nn::Sequential{nn::Conv2D(8, 3, {.padding = "same", .activation = "relu"}), nn::BatchNorm(),
                      nn::MaxPooling2D(), nn::DepthwiseConv2D(3), nn::AveragePooling2D(),
                      nn::Conv2DTranspose(4, 2), nn::Flatten(), nn::Dense(2)},
       {-1, 12, 12, 3}, {2, 12, 12, 3});
}

void rows(const std::string& folder) {
  show(folder,
       nn::Sequential{nn::Conv1D(6, 3, {.padding = "same"}), nn::MaxPooling1D(),
                      nn::LSTM(5, {.return_sequences = true}), nn::GRU(4), nn::Dense(2)},
       {-1, 8, 3}, {2, 8, 3});
}

/// Tokens through one block of a transformer.
struct Block : nn::Module {
  nn::Embedding words = add("words", nn::Embedding(16, 8));
  nn::MultiHeadAttention attend = add("attend", nn::MultiHeadAttention(2, 4));
  nn::LayerNorm norm = add("norm", nn::LayerNorm());
  nn::Dense out = add("out", nn::Dense(16));
  Tensor operator()(const Tensor& tokens) const {
    const Tensor x = words(tokens);
    return out(norm(x + attend(x, x, {.causal = true})));
  }
};
void block(const std::string& folder) { show(folder, Block(), {-1, 6}, {2, 6}, td::DType::int32); }

/// Doubled until it is large, then turned where it began negative; counts its calls.
struct Choices : nn::Module {
  td::Variable step = add("step", Tensor(2.f));
  td::Variable calls = add("calls", Tensor(0.f), false);
  Tensor operator()(const Tensor& x) const {
    td::Variable(calls).assign_add(Tensor(1.f));
    const Tensor large = td::while_loop(
        [&](std::span<const Tensor> v) { return td::less(td::reduce_max(v[0]), 100.f); },
        [&](std::span<const Tensor> v) { return std::vector<Tensor>{v[0] * step + 1.f}; }, {x},
        {.maximum_iterations = 20, .shapes = {td::Shape{-1}}})[0];
    const Tensor turned = td::cond(
        td::less(td::reduce_sum(x), 0.f), [&] { return -large * step; }, [&] { return large; });
    return turned + calls.value() * 0.f;
  }
};
void choices(const std::string& folder) { show(folder, Choices(), {-1}, {5}); }

/// Ops by name, not by layer.
void plain_ops(const std::string& folder) {
  show(folder,
       [](const Tensor& x) {
         const Tensor spread = td::math::reduce_std(x, td::Ints{1}, true);
         const Tensor parts = td::concat(std::vector<Tensor>(td::split(x, 2, 1)), 0);
         const Tensor padded =
             td::pad(parts, td::constant({{0, 0}, {1, 1}}), "CONSTANT", Tensor(0.f));
         const Tensor soft = td::nn::softmax(padded, 0);
         return td::reduce_logsumexp(td::transpose(soft), td::Ints{0}) +
                td::reduce_sum(spread) * 0.5f;
       },
       {-1, 4}, {3, 4});
}

/// A graph of TensorFlow 1 with a variable: as bytes and as text, not a model.
void session(const std::string& folder) {
  const td::Graph graph;
  Tensor x, y, start;
  {
    const td::GraphScope building(graph);
    x = td::placeholder(td::DType::float32, {-1, 3}, "x");
    const td::GraphVariable w(td::constant({{1.f}, {2.f}, {3.f}}), "w");
    y = td::nn::gelu(td::matmul(x, w));
    start = w.initializer();
  }
  const td::Session session(graph);
  session.run({start});
  const Tensor asked = td::random::normal({2, 3});
  tensor_lines::write(asked);
  tensor_lines::write(session.run({y}, {{x, asked}})[0]);
  td::io::write_graph(graph, folder, "graph.pb", {.as_text = false});
  td::io::write_graph(graph, folder, "graph.pbtxt");
}

const std::map<std::string, Shown> kModels = {
    {"perceptron", perceptron}, {"pictures", pictures},   {"rows", rows},      {"block", block},
    {"choices", choices},       {"plain_ops", plain_ops}, {"session", session}};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: written_models NAME FOLDER");
  td::random::set_seed(1);
  kModels.at(argv[1])(argv[2]);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
