#include <tidemark/activations.h>
#include <tidemark/call.h>
#include <tidemark/ops.h>

#include <utility>

#include "tidemark/nn/scalars.h"

namespace tidemark::nn {

namespace {

using Function = Tensor (*)(const Tensor&);

Tensor between(const Tensor& x, double least, double most) {
  return clip_by_value(x, number(least, x), number(most, x));
}

Tensor hard_sigmoid(const Tensor& x) { return relu6(x + number(3, x)) * number(1.0 / 6, x); }

/// x where it is at most a half from 0, else 0.
Tensor between_halves(const Tensor& x) {
  return select(less_equal(abs(x), number(0.5, x)), x, zeros_like(x));
}

/// 0 up to -1, x from 1 on, a parabola between them.
Tensor sparse_plus(const Tensor& x) {
  const Tensor one = number(1, x), rising = number(0.25, x) * square(x + one);
  return select(less_equal(x, -one), zeros_like(x), select(less(x, one), rising, x));
}

/// The first half of the channels, as far as the second half lets them through.
Tensor glu(const Tensor& x) {
  const std::vector<Tensor> halves = split(x, 2, -1);
  return halves[0] * sigmoid(halves[1]);
}

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
    {"hard_sigmoid", hard_sigmoid},
    {"hard_silu", [](const Tensor& x) { return x * hard_sigmoid(x); }},
    {"hard_swish", [](const Tensor& x) { return x * hard_sigmoid(x); }},
    {"hard_tanh", [](const Tensor& x) { return between(x, -1, 1); }},
    {"hard_shrink", [](const Tensor& x) { return x - between_halves(x); }},
    {"soft_shrink", [](const Tensor& x) { return x - between(x, -0.5, 0.5); }},
    {"tanh_shrink", [](const Tensor& x) { return x - tanh(x); }},
    {"celu", [](const Tensor& x) { return elu(x); }},
    {"tanh", [](const Tensor& x) { return tanh(x); }},
    {"softmax", [](const Tensor& x) { return softmax(x); }},
    {"log_softmax", [](const Tensor& x) { return log_softmax(x); }},
    {"softplus", [](const Tensor& x) { return softplus(x); }},
    {"softsign", [](const Tensor& x) { return softsign(x); }},
    {"mish", [](const Tensor& x) { return x * tanh(softplus(x)); }},
    {"exponential", [](const Tensor& x) { return exp(x); }},
    {"squareplus",
     [](const Tensor& x) { return (x + sqrt(square(x) + number(4, x))) * number(0.5, x); }},
    {"sparse_sigmoid",
     [](const Tensor& x) { return between(number(0.5, x) * (x + number(1, x)), 0, 1); }},
    {"sparse_plus", sparse_plus},
    {"glu", glu},
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
