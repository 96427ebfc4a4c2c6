#include <tidemark/activations.h>
#include <tidemark/call.h>
#include <tidemark/ops.h>

#include <utility>

#include "tidemark/nn/scalars.h"

namespace tidemark::nn {

namespace {

using Function = Tensor (*)(const Tensor&);

// op names: which functions Keras calls activations, under its names; not all of them are ops.
constexpr std::pair<std::string_view, Function> kActivations[] = {
    {"linear", [](const Tensor& x) { return x; }},
    {"relu", [](const Tensor& x) { return relu(x); }},
    {"relu6", [](const Tensor& x) { return relu6(x); }},
    {"leaky_relu", [](const Tensor& x) { return leaky_relu(x); }},
    {"elu", [](const Tensor& x) { return elu(x); }},
    {"selu", [](const Tensor& x) { return selu(x); }},
    {"gelu", [](const Tensor& x) { return gelu(x); }},
    {"silu", [](const Tensor& x) { return swish(x); }},
    {"swish", [](const Tensor& x) { return swish(x); }},
    {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
    {"log_sigmoid", [](const Tensor& x) { return log_sigmoid(x); }},
    {"hard_sigmoid", [](const Tensor& x) { return relu6(x + number(3, x)) * number(1.0 / 6, x); }},
    {"tanh", [](const Tensor& x) { return tanh(x); }},
    {"softmax", [](const Tensor& x) { return softmax(x); }},
    {"log_softmax", [](const Tensor& x) { return log_softmax(x); }},
    {"softplus", [](const Tensor& x) { return softplus(x); }},
    {"softsign", [](const Tensor& x) { return softsign(x); }},
    {"mish", [](const Tensor& x) { return x * tanh(softplus(x)); }},
    {"exponential", [](const Tensor& x) { return exp(x); }},
};

}  // namespace

Activation::Activation(const std::string& name) {
  std::string known;
  for (const auto& [other, function] : kActivations) {
    if (other == "linear" && name == other) return;
    if (other == name) {
      function_ = function;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(other);
  }
  fail<InvalidArgumentError>("[activation] there is none called \"", name, "\"; there are: ", known,
                             "; or give a function of a tensor");
}

}  // namespace tidemark::nn
