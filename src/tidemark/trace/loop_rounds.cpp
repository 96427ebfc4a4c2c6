// How many rounds a loop has, where its counters can be followed without the rest of it.
#include <algorithm>

#include "tidemark/tensor/storage.h"
#include "tidemark/trace/specials.h"

namespace tidemark::trace {

namespace {

constexpr int64_t kMostFollowed = 1 << 14;  // rounds
constexpr int64_t kFewElements = 64;        // of a counter

/// What is known of a tensor before the graph runs, where that is little; else empty.
Tensor counter_in(const Tensor& t) {
  const Tensor value = graph::known_value(t);
  const bool is_little = value && value.num_elements() <= kFewElements &&
                         value.dtype() != DType::string && value.device().is_cpu();
  return is_little ? value : Tensor();
}

/// A program and which of its inputs it needs, of the loop variables and of the captures.
struct Followed {
  std::shared_ptr<const exec::Program> program;
  std::vector<Tensor> arguments;  // the captures filled in
  bool is_known = false;

  Followed(std::shared_ptr<const exec::Program> all, const Body& body, size_t num_variables,
           std::span<const Tensor> inputs)
      : program(std::move(all)), arguments(program->num_inputs()) {
    is_known = is_pure(*program);
    for (size_t i = num_variables; i < arguments.size(); ++i) {
      if (!needs(i)) continue;
      arguments[i] = counter_in(inputs[body.captured[i - num_variables]]);
      is_known = is_known && arguments[i];
    }
  }
  bool needs(size_t input) const {
    const std::span<const uint32_t> unused = program->unused_inputs();
    return std::find(unused.begin(), unused.end(), input) == unused.end();
  }
  /// Without a look at whatever is being recorded or built.
  std::vector<Tensor> run(std::span<const Tensor> values, std::span<const bool> given) const {
    std::vector<Tensor> inputs = arguments, outputs(program->num_outputs());
    for (size_t i = 0; i < values.size(); ++i) {
      if (given[i] && needs(i)) inputs[i] = values[i];
    }
    program->run(inputs, outputs);
    return outputs;
  }
};

}  // namespace

bool is_pure(const exec::Program& program) {
  const std::vector<graph::Node*> nodes = program.graph().nodes();
  return std::all_of(nodes.begin(), nodes.end(), [](const graph::Node* node) {
    return graph::is_placeholder(*node) || graph::is_constant(*node) ||
           graph::effects_of(*node).is_pure();
  });
}

int64_t WhileLoop::most_rounds(std::span<const Tensor> inputs) const {
  const NoHandlers now;
  const Tensor limit = counter_in(inputs[num_variables_]);
  const int64_t most = limit ? limit.to_ints()[0] : -1;
  const Followed asking(condition_.program, condition_, num_variables_, inputs);
  if (!asking.is_known) return most;
  // The variables that the condition needs, and those that they are computed from.
  std::vector<uint8_t> counts(num_variables_);
  for (const uint32_t i : asked_) counts[i] = 1;
  std::shared_ptr<const exec::Program> next;
  for (bool grew = true; grew;) {
    grew = false;
    std::vector<Tensor> wanted;
    for (size_t i = 0; i < num_variables_; ++i) {
      if (counts[i]) wanted.push_back(body_.graph->outputs()[i]);
    }
    next = exec::Program::build(body_.graph->inputs(), wanted, {}, exec::Compile::never);
    const std::span<const uint32_t> unused = next->unused_inputs();
    for (uint32_t i = 0; i < num_variables_; ++i) {
      const bool needs = std::find(unused.begin(), unused.end(), i) == unused.end();
      if (needs && !counts[i]) counts[i] = 1, grew = true;
    }
  }
  const Followed counting(next, body_, num_variables_, inputs);
  if (!counting.is_known) return most;
  std::vector<Tensor> values(num_variables_);
  for (size_t i = 0; i < num_variables_; ++i) {
    if (!counts[i]) continue;
    values[i] = counter_in(inputs[i]);
    if (!values[i]) return most;
  }
  const std::unique_ptr<bool[]> given(new bool[num_variables_]);
  std::copy(counts.begin(), counts.end(), given.get());
  const std::span<const bool> known(given.get(), num_variables_);
  for (int64_t round = 0; round < kMostFollowed; ++round) {
    if (round == most || asking.run(values, known)[0].to_ints()[0] == 0) return round;
    std::vector<Tensor> made = counting.run(values, known);
    for (size_t i = 0, k = 0; i < num_variables_; ++i) {
      if (counts[i]) values[i] = std::move(made[k++]);
    }
  }
  return most;
}

}  // namespace tidemark::trace
