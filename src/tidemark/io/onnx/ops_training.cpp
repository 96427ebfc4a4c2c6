// Optimizers as ops: ai.onnx.preview.training.
#include <cmath>

#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

namespace {

constexpr std::string_view kDomain = "ai.onnx.preview.training";

/// Inputs behind rate and count: all values, all gradients, then each kind of state in turn.
struct Group {
  Tensor x, g;
  std::vector<Tensor> state;
};

std::vector<Group> groups_of(const Call& c, size_t kinds) {
  const size_t per_value = 2 + kinds;
  if (c.num_inputs() < 2 + per_value || (c.num_inputs() - 2) % per_value != 0) {
    c.fail("has a wrong number of inputs");
  }
  const size_t count = (c.num_inputs() - 2) / per_value;
  std::vector<Group> out(count);
  for (size_t i = 0; i < count; ++i) {
    out[i] = {c.in(2 + i), c.in(2 + count + i), {}};
    for (size_t k = 0; k < kinds; ++k) out[i].state.push_back(c.in(2 + (2 + k) * count + i));
  }
  return out;
}

/// All new values, then each kind of new state.
Values results_of(const std::vector<Group>& groups) {
  Values out;
  for (const Group& group : groups) out.emplace_back(group.x);
  for (size_t k = 0; k < groups[0].state.size(); ++k) {
    for (const Group& group : groups) out.emplace_back(group.state[k]);
  }
  return out;
}

Tensor regularised(const Call& c, const Group& group) {
  return group.g + group.x * number(c.real("norm_coefficient", 0), group.x);
}

Values momentum(const Call& c) {
  std::vector<Group> groups = groups_of(c, 1);
  const std::string mode = c.text("mode", "standard");
  for (Group& group : groups) {
    const Tensor rate = as(c.in(0), group.x.dtype());
    const Tensor alpha = number(c.real("alpha", 0), group.x);
    const Tensor g = regularised(c, group);
    // In the first round the gradient is taken as it is.
    const Tensor is_first = equal(c.in(1), Tensor(int64_t{0}));
    const Tensor beta = select(is_first, number(1, g), number(c.real("beta", 1), g));
    const Tensor v = alpha * group.state[0] + beta * g;
    group.x = group.x - rate * (mode == "nesterov" ? g + alpha * v : v);
    group.state[0] = v;
  }
  return results_of(groups);
}

Values adagrad(const Call& c) {
  std::vector<Group> groups = groups_of(c, 1);
  for (Group& group : groups) {
    const DType dtype = group.x.dtype();
    const Tensor decay = number(c.real("decay_factor", 0), dtype) * as(c.in(1), dtype);
    const Tensor rate = as(c.in(0), dtype) / (number(1, dtype) + decay);
    const Tensor g = regularised(c, group);
    group.state[0] = group.state[0] + square(g);
    group.x = group.x - rate * g / (sqrt(group.state[0]) + number(c.real("epsilon", 0), dtype));
  }
  return results_of(groups);
}

Values adam(const Call& c) {
  std::vector<Group> groups = groups_of(c, 2);
  for (Group& group : groups) {
    const DType dtype = group.x.dtype();
    const Tensor one = number(1, dtype);
    const Tensor alpha = number(c.real("alpha", 0.9), dtype),
                 beta = number(c.real("beta", 0.999), dtype);
    const Tensor g = regularised(c, group);
    const Tensor v = alpha * group.state[0] + (one - alpha) * g;
    const Tensor h = beta * group.state[1] + (one - beta) * square(g);
    const Tensor count = as(c.in(1), dtype);
    const Tensor adjusted =
        as(c.in(0), dtype) * sqrt(one - pow(beta, count)) / (one - pow(alpha, count));
    const Tensor rate = select(greater(count, number(0, dtype)), adjusted, as(c.in(0), dtype));
    const Tensor moved = group.x - rate * v / (sqrt(h) + number(c.real("epsilon", 0), dtype));
    group.x = moved * (one - number(c.real("norm_coefficient_post", 0), dtype));
    group.state = {v, h};
  }
  return results_of(groups);
}

constexpr Entry kEntries[] = {
    {"Momentum", momentum, kDomain},
    {"Adagrad", adagrad, kDomain},
    {"Adam", adam, kDomain},
};

}  // namespace

std::span<const Entry> training_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
