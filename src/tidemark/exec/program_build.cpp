#include <algorithm>
#include <unordered_map>

#include "tidemark/base/backend.h"
#include "tidemark/base/settings.h"
#include "tidemark/exec/last_uses.h"
#include "tidemark/exec/program.h"
#include "tidemark/exec/versions.h"
#include "tidemark/graph/cut.h"
#include "tidemark/graph/specials.h"
#include "tidemark/tensor/kept_for_runs.h"

namespace tidemark::exec {

/// Turns nodes into steps: numbers the values, finds each one's last use.
class Program::Builder {
 public:
  explicit Builder(Program& program)
      : program_(program), graph_(program.graph()), nodes_(graph_.nodes()) {}

  void build() {
    program_.num_inputs_ = graph_.inputs().size();
    for (const Tensor& t : graph_.inputs()) first_slot_.emplace(&graph::node_of(t), next_slot_++);
    for (graph::Node* node : nodes_) {
      if (!first_slot_.contains(node) && !graph::is_constant(*node)) add_step(*node);
    }
    for (const Tensor& t : graph_.outputs()) program_.outputs_.push_back(reference(t));
    program_.num_slots_ = next_slot_;
    find_last_uses();
    for (size_t i = 0; i < program_.specials_.size(); ++i) find_recorded(i);
  }

 private:
  /// A constant takes no step: whoever uses it refers to its value.
  int32_t reference(const Tensor& t) {
    if (t.is_symbolic() && graph::is_constant(graph::node_of(t)) &&
        !first_slot_.contains(&graph::node_of(t))) {
      return reference(graph::node_of(t).inputs[0]);
    }
    if (t.is_symbolic()) {
      return static_cast<int32_t>(first_slot_.at(&graph::node_of(t)) + graph::symbolic(t).index);
    }
    const auto [found, is_new] = constants_.try_emplace(t.impl(), program_.constants_.size());
    if (is_new) program_.constants_.push_back(kept_for_runs(t));
    return ~static_cast<int32_t>(found->second);
  }

  static bool wishes_device(const graph::Node& node) {
    if (!node.wish.value_or({}).is_cpu()) return true;
    const bool is_possible = open_device_count.load(std::memory_order_relaxed) > 1;
    if (!is_possible || !node.special) return false;
    for (const graph::InnerGraph& inner : node.special->inner_graphs()) {
      for (const graph::Node* inside : inner.graph->nodes()) {
        if (wishes_device(*inside)) return true;
      }
    }
    return false;
  }

  void add_step(graph::Node& node) {
    if (graph::is_placeholder(node)) {
      const Tensor input = graph::output_of(node, 0);
      const std::string_view name = name_of(input.dtype());
      fail("You must feed a value for placeholder tensor '", node.label, "' with dtype ",
           name == "float32" ? "float" : name, " and shape ", input.shape().to_brackets(),
           ": the graph needs ", graph::describe(input));
    }
    Step step;
    step.op = node.op;
    step.attrs = node.attrs;
    step.site = node.site;
    step.wish = node.wish;
    program_.wishes_device_ = program_.wishes_device_ || wishes_device(node);
    step.first_input = static_cast<uint32_t>(program_.operands_.size());
    step.num_inputs = static_cast<uint32_t>(node.inputs.size());
    for (const Tensor& t : node.inputs) program_.operands_.push_back(reference(t));
    step.first_output = next_slot_;
    step.num_outputs = static_cast<uint32_t>(node.outputs.size());
    if (!node.op) {
      program_.specials_.push_back({node.special, node.outputs, -1});
      step.special = static_cast<uint32_t>(program_.specials_.size());
    }
    first_slot_.emplace(&node, next_slot_);
    next_slot_ += step.num_outputs;
    program_.steps_.push_back(std::move(step));
    if (node.site) memory::pin(*node.site);
  }

  void find_last_uses() {
    LastUses found = exec::find_last_uses<Step>(program_.steps_, program_.operands_,
                                                program_.outputs_, std::vector<bool>(next_slot_));
    program_.dead_ = std::move(found.dead);
    program_.unused_inputs_ = std::move(found.unused);
  }

  std::span<const int32_t> refs(const Step& step) const {
    return std::span(program_.operands_).subspan(step.first_input, step.num_inputs);
  }

  uint32_t step_of_special(size_t special) const {
    for (uint32_t i = 0; i < program_.steps_.size(); ++i) {
      if (program_.steps_[i].special == special + 1) return i;
    }
    fail<InternalError>("a special without a step");
  }

  /// Which steps lie between what a recording special watches and what it asks about.
  void find_recorded(size_t index) {
    SpecialStep& what = program_.specials_[index];
    const graph::RecordingSpecial* special = what.special->recording();
    if (!special) return;
    what.recording = static_cast<int>(program_.recordings_.size());
    Recording recording;
    recording.special = special;
    recording.last = step_of_special(index);
    std::vector<bool> needed(next_slot_);
    const std::span<const int32_t> all = refs(program_.steps_[recording.last]);
    for (size_t i = special->num_watched(); i < special->num_seen(); ++i) {
      if (all[i] >= 0) needed[static_cast<size_t>(all[i])] = true;
    }
    recording.matters.resize(program_.steps_.size());
    for (uint32_t i = recording.last; i-- > 0;) {
      const Step& step = program_.steps_[i];
      bool matters = false;
      for (uint32_t k = 0; k < step.num_outputs; ++k) matters |= needed[step.first_output + k];
      recording.matters[i] = matters;
      for (int32_t ref : refs(step)) {
        if (matters && ref >= 0) needed[static_cast<size_t>(ref)] = true;
      }
    }
    for (uint32_t i = 0; i < special->num_watched(); ++i) add_watched(recording, all[i], i);
    program_.recordings_.push_back(std::move(recording));
  }

  void add_watched(Recording& recording, int32_t ref, uint32_t input) const {
    const auto slot = static_cast<uint32_t>(ref);
    if (ref < 0 || slot < program_.num_inputs_) {
      return recording.watch_first.push_back({0, ref, input});
    }
    for (uint32_t i = 0; i < program_.steps_.size(); ++i) {
      const Step& step = program_.steps_[i];
      if (slot >= step.first_output && slot < step.first_output + step.num_outputs) {
        recording.watch.push_back({i, ref, input});
      }
    }
  }

  Program& program_;
  const graph::Graph& graph_;
  std::vector<graph::Node*> nodes_;
  std::unordered_map<const graph::Node*, uint32_t> first_slot_;
  std::unordered_map<const detail::TensorImpl*, size_t> constants_;
  uint32_t next_slot_ = 0;
};

std::shared_ptr<const Program> Program::build(const graph::Graph& graph, Compile compile,
                                              int64_t budget, std::vector<uint32_t> donated) {
  auto program = std::make_shared<Program>();
  program->graph_ = graph.shared_from_this();
  program->donated_ = std::move(donated);
  Builder(*program).build();
  static const bool plans = settings::flag(settings::kPlan);
  // One step gains nothing from a plan.
  if ((plans && compile != Compile::never && program->steps_.size() > 1) || budget > 0) {
    const std::span<const Tensor> inputs = graph.inputs();
    const bool sizes_known = std::all_of(
        inputs.begin(), inputs.end(), [](const Tensor& t) { return t.shape().is_fully_known(); });
    program->versions_ = std::make_unique<Versions>(
        sizes_known || budget > 0 || compile == Compile::always ? compile : Compile::when_repeated,
        budget);
  }
  return program;
}

std::shared_ptr<const Program> Program::build(std::span<const Tensor> inputs,
                                              std::span<const Tensor> outputs,
                                              std::span<const graph::NodeRef> effects,
                                              Compile compile) {
  return build(*graph::cut(inputs, outputs, effects), compile);
}

}  // namespace tidemark::exec
