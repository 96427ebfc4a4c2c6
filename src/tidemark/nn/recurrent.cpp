#include <tidemark/call.h>
#include <tidemark/control_flow.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>
#include <tidemark/sequence_layers.h>

#include <functional>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

namespace {

using CellState = std::vector<Tensor>;
/// The state after a step, its output first, from the state before and the step's input.
using Cell = std::function<CellState(std::span<const Tensor>, const Tensor&)>;

/// Runs the cell over [time, batch, n].
RecurrentResult run_over_time(const Tensor& steps, CellState state, bool return_sequences,
                              const Cell& cell) {
  const size_t parts = state.size();
  const Tensor count = size_at(steps, 0);
  const Array outputs(state[0].dtype(), return_sequences ? count : Tensor(0),
                      {.element_shape = state[0].shape()});
  LoopOptions options{.shapes = {Shape{}}};
  for (const Tensor& part : state) options.shapes.push_back(part.shape());
  options.shapes.push_back(Shape::unknown());
  std::vector<Tensor> variables = {Tensor(0)};
  variables.insert(variables.end(), state.begin(), state.end());
  variables.push_back(outputs.tensor());
  const std::vector<Tensor> end = while_loop(
      [&](std::span<const Tensor> v) { return less(v[0], count); },
      [&](std::span<const Tensor> v) {
        std::vector<Tensor> next = cell(v.subspan(1, parts), gather(steps, v[0]));
        next.push_back(return_sequences ? outputs.with(v[parts + 1]).write(v[0], next[0]).tensor()
                                        : v[parts + 1]);
        next.insert(next.begin(), v[0] + 1);
        return next;
      },
      std::move(variables), options);
  RecurrentResult result{.output = end[1], .state = {end.begin() + 1, end.end() - 1}};
  if (return_sequences) {
    // As many as there were steps, which the loop's own shape does not say.
    Ints sizes = {steps.dim(0)};
    for (const int64_t size : end[1].shape()) sizes.push_back(size);
    result.output = transpose(ensure_shape(outputs.with(end.back()).stack(), sizes), Ints{1, 0, 2});
  }
  return result;
}

CellState checked_state(const Module& layer, const Tensor& x, const CellState& given, size_t parts,
                        int64_t units) {
  if (given.empty()) {
    const Tensor sizes =
        stack(std::vector<Tensor>{first_size(x), Tensor(static_cast<int32_t>(units))});
    return CellState(parts, fill(sizes, cast(Tensor(0.f), x.dtype())));
  }
  if (given.size() != parts) {
    fail<InvalidArgumentError>("[", layer.kind(), "] a state is ", parts,
                               " tensors, as run() gives it. Received: ", given.size());
  }
  return given;
}

/// x · kernel + bias for all steps at once, time first.
Tensor projected(const Tensor& x, const Tensor& kernel, const Tensor& bias) {
  Tensor y = matmul(x, kernel);
  if (bias) y = std::move(y) + bias;
  return transpose(y, Ints{1, 0, 2});
}

}  // namespace

LSTM::LSTM(int64_t units, RecurrentOptions options)
    : Module("LSTM"), units_(units), options_(std::move(options)) {
  check_positive(kind(), "units", units);
  will_build();
}

Tensor LSTM::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  return run(x).output;
}

RecurrentResult LSTM::run(const Tensor& x, const std::vector<Tensor>& state) const {
  TIDEMARK_HERE;
  const int64_t channels = channels_of_rank(*this, x, 3);
  build_once([&] {
    add("kernel", options_.kernel_initializer({channels, 4 * units_}));
    add("recurrent_kernel", options_.recurrent_initializer({units_, 4 * units_}));
    if (!options_.use_bias) return;
    const Tensor parts[] = {options_.bias_initializer({units_}), ones({units_}),
                            options_.bias_initializer({2 * units_})};
    add("bias", concat(parts, 0));
  });
  const Tensor bias = options_.use_bias ? beside(x, weight(2)) : Tensor();
  const Tensor recurrent = beside(x, weight(1));
  return run_over_time(
      projected(x, beside(x, weight(0)), bias), checked_state(*this, x, state, 2, units_),
      options_.return_sequences,
      [&](std::span<const Tensor> before, const Tensor& input) -> CellState {
        const std::vector<Tensor> z = split(input + matmul(before[0], recurrent), 4, 1);
        const Tensor cell = options_.recurrent_activation(z[1]) * before[1] +
                            options_.recurrent_activation(z[0]) * options_.activation(z[2]);
        return {options_.recurrent_activation(z[3]) * options_.activation(cell), cell};
      });
}

GRU::GRU(int64_t units, RecurrentOptions options)
    : Module("GRU"), units_(units), options_(std::move(options)) {
  check_positive(kind(), "units", units);
  will_build();
}

Tensor GRU::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  return run(x).output;
}

RecurrentResult GRU::run(const Tensor& x, const std::vector<Tensor>& state) const {
  TIDEMARK_HERE;
  const int64_t channels = channels_of_rank(*this, x, 3);
  build_once([&] {
    add("kernel", options_.kernel_initializer({channels, 3 * units_}));
    add("recurrent_kernel", options_.recurrent_initializer({units_, 3 * units_}));
    if (options_.use_bias) add("bias", options_.bias_initializer({2, 3 * units_}));
  });
  // One bias for the inputs, one for what comes back.
  const std::vector<Tensor> biases =
      options_.use_bias ? unstack(beside(x, weight(2)), 2) : std::vector<Tensor>(2);
  const Tensor recurrent = beside(x, weight(1));
  return run_over_time(projected(x, beside(x, weight(0)), biases[0]),
                       checked_state(*this, x, state, 1, units_), options_.return_sequences,
                       [&](std::span<const Tensor> before, const Tensor& input) -> CellState {
                         Tensor back = matmul(before[0], recurrent);
                         if (biases[1]) back = std::move(back) + biases[1];
                         const std::vector<Tensor> u = split(input, 3, 1), v = split(back, 3, 1);
                         const Tensor update = options_.recurrent_activation(u[0] + v[0]);
                         const Tensor reset = options_.recurrent_activation(u[1] + v[1]);
                         const Tensor made = options_.activation(u[2] + reset * v[2]);
                         return {update * before[0] + (number(1, update) - update) * made};
                       });
}

}  // namespace tidemark::nn
