// Gradients that only the run of a graph can tell: the run is recorded by a tape of its own.
#include <tidemark/create.h>

#include "tidemark/autodiff/tape.h"
#include "tidemark/tensor/storage.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/graph_gradient.h"
#include "tidemark/trace/specials.h"

namespace tidemark::trace {

namespace {

class GradientAtRun final : public graph::RecordingSpecial {
 public:
  explicit GradientAtRun(graph::GradientQuestion question) : question_(std::move(question)) {
    for (const Variable& source : question_.sources) {
      if (source) {
        variables_.push_back(source);
      } else {
        ++num_tensors_;
      }
    }
  }

  std::string_view name() const override { return "gradient"; }
  std::unique_ptr<graph::Recorder> start() const override;
  size_t num_watched() const override { return num_tensors_ + question_.num_stops; }
  size_t num_seen() const override { return num_watched() + question_.has_seed.size(); }
  bool is_stop(size_t input) const { return input >= num_tensors_; }
  graph::Effects effects() const override {
    return {.reads = variables_, .is_barrier = true, .needs_record = true};
  }
  const graph::GradientQuestion& question() const override { return question_; }

  void expand(std::span<Tensor> inputs, std::span<Tensor> outputs) const override {
    autodiff::Tape tape({.persistent = false, .watch_accessed_variables = false});
    for (const Variable& variable : variables_) tape.watch_id(variable.id());
    for (const Tensor& t : inputs.first(num_tensors_)) tape.watch(t);
    note_steps(tape, inputs.subspan(num_watched(), question_.has_seed.size()),
               inputs.subspan(num_tensors_, question_.num_stops));
    finish(tape, inputs, outputs);
  }

  void finish(autodiff::Tape& tape, std::span<Tensor> inputs, std::span<Tensor> outputs) const {
    std::vector<uint64_t> ids;
    std::vector<Tensor> tensors;  // for the case that a graph is being built of this run
    size_t next = 0;
    for (const Variable& source : question_.sources) {
      tensors.push_back(source ? Tensor() : inputs[next++]);
      ids.push_back(source ? source.id() : id_of(tensors.back()));
    }
    const std::vector<bool>& has_seed = question_.has_seed;
    const std::span<const Tensor> targets = inputs.subspan(num_watched(), has_seed.size());
    std::vector<Tensor> seeds(has_seed.size());
    size_t seed = num_seen();
    for (size_t i = 0; i < seeds.size(); ++i) {
      if (has_seed[i]) seeds[i] = inputs[seed++];
    }
    auto adjoints = tape.gradient(targets, ids, seeds, tensors);
    next = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Variable& source = question_.sources[i];
      const Tensor value = source ? source.operand() : inputs[next++];
      outputs[i] = adjoints[i] ? autodiff::dense(std::move(adjoints[i]))
                               : zeros(value.shape(), value.dtype());
    }
  }

 private:
  bool equals(const Special& other) const override {
    const auto& that = static_cast<const GradientAtRun&>(other);
    return that.question_.sources == question_.sources &&
           that.question_.has_seed == question_.has_seed &&
           that.question_.num_stops == question_.num_stops;
  }

  graph::GradientQuestion question_;
  std::vector<Variable> variables_;
  size_t num_tensors_ = 0;
};

class TapeOfRun final : public graph::Recorder {
 public:
  explicit TapeOfRun(const GradientAtRun& special)
      : special_(special), tape_({.persistent = false, .watch_accessed_variables = false}) {
    for (const Variable& variable : special.effects().reads) tape_.watch_id(variable.id());
  }
  Handler& handler() override { return tape_; }
  void watch(const Tensor& value, size_t input) override {
    special_.is_stop(input) ? tape_.stop_at(value) : tape_.watch(value);
  }
  void set_recording(bool on) override { tape_.set_recording(on); }
  void finish(std::span<Tensor> inputs, std::span<Tensor> outputs) override {
    special_.finish(tape_, inputs, outputs);
  }

 private:
  const GradientAtRun& special_;
  autodiff::Tape tape_;
};

std::unique_ptr<graph::Recorder> GradientAtRun::start() const {
  return std::make_unique<TapeOfRun>(*this);
}

Variable variable_with(const GraphBuilder& builder, uint64_t id) {
  for (const Variable& variable : builder.variables()) {
    if (variable.id() == id) return variable;
  }
  fail<InternalError>("a gradient was asked by a variable that the graph does not use");
}

/// The variable that the tensor is a reading of; null: it is something else.
const Variable* variable_behind(const Tensor& t) {
  return t.is_symbolic() ? graph::shown_variable(graph::node_of(t)) : nullptr;
}

}  // namespace

std::shared_ptr<const graph::Special> gradient_at_run(graph::GradientQuestion question) {
  return std::make_shared<GradientAtRun>(std::move(question));
}

std::vector<autodiff::Adjoint> defer_gradient(const autodiff::Question& question) {
  GraphBuilder* builder = current_builder();
  if (!builder) fail("a gradient of a graph can be asked for only while it is being built");
  std::vector<Variable> sources;
  std::vector<Tensor> inputs;
  std::vector<graph::OutputInfo> infos;
  for (size_t i = 0; i < question.sources.size(); ++i) {
    if (!question.connected[i]) continue;
    Tensor source = i < question.source_tensors.size() ? question.source_tensors[i] : Tensor();
    if (!source) source = builder->standing_for(question.sources[i]);
    const Variable* variable = source ? variable_behind(source) : nullptr;
    if (source && !variable) {
      sources.push_back({});
      inputs.push_back(source);
      infos.push_back({source.dtype(), source.shape()});
    } else {
      sources.push_back(variable ? *variable : variable_with(*builder, question.sources[i]));
      infos.push_back({sources.back().dtype(), sources.back().shape()});
    }
  }
  inputs.insert(inputs.end(), question.stops.begin(), question.stops.end());
  const size_t num_stops = question.stops.size();
  std::vector<bool> has_seed;
  inputs.insert(inputs.end(), question.targets.begin(), question.targets.end());
  for (size_t i = 0; i < question.targets.size(); ++i) {
    has_seed.push_back(!question.seeds.empty() && question.seeds[i]);
    if (has_seed.back()) inputs.push_back(question.seeds[i]);
  }
  std::vector<Tensor> outputs(infos.size());
  const auto special = gradient_at_run({std::move(sources), std::move(has_seed), num_stops});
  builder->handle_step(special, infos, inputs, outputs);
  std::vector<autodiff::Adjoint> adjoints(question.sources.size());
  size_t next = 0;
  for (size_t i = 0; i < adjoints.size(); ++i) {
    if (question.connected[i]) adjoints[i].values = std::move(outputs[next++]);
  }
  return adjoints;
}

}  // namespace tidemark::trace
