#include "tidemark/compile/fit_budget.h"

#include <algorithm>

#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/compile/step_cost.h"
#include "tidemark/plan/lowering.h"
#include "tidemark/plan/order/order.h"
#include "tidemark/plan/order/recompute.h"

namespace tidemark::compile {

namespace {

/// So little added time that nothing better is looked for.
constexpr double kCheapEnough = 0.005;

plan::OpCost cost_of(const plan::PlannedStep& step) {
  using Kind = plan::PlannedStep::Kind;
  const graph::Node& node = *step.node;
  plan::OpCost cost;
  if (step.kind == Kind::view) return {0, true};
  cost.seconds = estimated_seconds(node);
  cost.is_repeatable = step.fills_outputs() && graph::effects_of(node).is_pure();
  return cost;
}

/// By value: the update after which a reading of its variable is not what it was.
std::vector<int> find_validity(const plan::Lowering& lowered) {
  std::vector<int> out(lowered.values.size(), plan::kNone);
  for (size_t i = 0; i < lowered.values.size(); ++i) {
    const auto& node =
        *lowered.values[static_cast<size_t>(lowered.root_of(static_cast<int>(i)))].node;
    const Variable* shown = graph::shown_variable(node);
    if (!shown) continue;
    for (size_t op = 0; op < lowered.steps.size() && out[i] == plan::kNone; ++op) {
      const graph::Node& later = *lowered.steps[op].node;
      if (later.sequence > node.sequence && graph::effects_of(later).changes(*shown)) {
        out[i] = static_cast<int>(op);
      }
    }
  }
  return out;
}

class Rewriting {
 public:
  Rewriting(const graph::Graph& graph, const plan::Lowering& lowered,
            const plan::Recomputation& plan)
      : now_(graph), tensors_(plan.problem.values.size()) {
    for (const Tensor& t : graph.inputs()) {
      tensors_[static_cast<size_t>(lowered.value_of(t))] = now_.at(t);
    }
    for (size_t i = 0; i < plan.problem.ops.size(); ++i) {
      add(*lowered.steps[static_cast<size_t>(plan.op_of[i])].node, plan.problem.ops[i]);
    }
    for (const Tensor& t : graph.outputs()) {
      const int value = lowered.value_of(t);
      if (value == plan::kNone) continue;
      now_.set(graph::node_of(t), graph::symbolic(t).index, tensors_[static_cast<size_t>(value)]);
    }
  }
  std::shared_ptr<graph::Graph> finish() { return now_.finish(); }

 private:
  void add(const graph::Node& node, const plan::Op& op) {
    std::vector<Tensor> inputs;
    size_t next = 0;
    for (const Tensor& t : node.inputs) {
      inputs.push_back(t.is_symbolic() ? tensors_[static_cast<size_t>(op.inputs[next++])] : t);
    }
    const graph::NodeRef made = now_.copy_over(node, std::move(inputs));
    for (uint32_t i = 0; i < op.outputs.size(); ++i) {
      tensors_[static_cast<size_t>(op.outputs[i])] = graph::output_of(*made, i);
    }
  }

  Rewriter now_;
  std::vector<Tensor> tensors_;  // by value
};

/// By doing steps again alone. `seconds`: how long each of a few searches may take.
Fitted fit_by_repeating(const std::shared_ptr<graph::Graph>& graph, int64_t budget,
                        double seconds) {
  const plan::Lowering lowered(*graph);
  std::vector<plan::OpCost> costs;
  for (const plan::PlannedStep& step : lowered.steps) costs.push_back(cost_of(step));
  const plan::OrderResult order = plan::find_order(lowered.problem, {.seconds = 0.1});
  plan::RecomputeOptions options;
  options.seconds = seconds;
  options.valid_until = find_validity(lowered);
  const plan::Recomputation found =
      plan::recompute(lowered.problem, order.order, costs, budget, options);
  Fitted out;
  out.graph = Rewriting(*graph, lowered, found).finish();
  out.peak = found.peak;
  out.given_peak = found.given_peak;
  out.added_time = found.given_seconds > 0 ? found.added_seconds / found.given_seconds : 0;
  out.repeated = found.repeated;
  out.fits = found.fits;
  return out;
}

/// How many graphs with pieces are tried together with repetition.
constexpr size_t kCombined = 2;
constexpr double kSecondsAlone = 2.0, kSecondsCombined = 0.15;
/// Repetition looks at all that is alive at every step: of many pieces that is too much.
constexpr size_t kMostCombinedSteps = 600;

bool is_better(const Fitted& a, const Fitted& b) {
  if (a.fits != b.fits) return a.fits;
  return a.fits ? a.added_time < b.added_time : a.peak < b.peak;
}

/// Steps that compute new values of variables where those lie.
size_t num_updates(const graph::Graph& graph) {
  const auto nodes = graph.nodes();
  return static_cast<size_t>(std::count_if(nodes.begin(), nodes.end(), [](const auto* node) {
    return node->special && node->special->variable_updates();
  }));
}

}  // namespace

double estimated_seconds(const plan::Lowering& lowered) {
  double seconds = 0;
  for (const plan::PlannedStep& step : lowered.steps) seconds += cost_of(step).seconds;
  return seconds;
}

Fitted fit_budget(const std::shared_ptr<graph::Graph>& graph, int64_t budget,
                  const std::shared_ptr<graph::Graph>& unfused) {
  Fitted best = fit_by_repeating(graph, budget, kSecondsAlone);
  if (!unfused || (best.fits && best.added_time < kCheapEnough)) return best;
  const double whole = estimated_seconds(plan::Lowering(*graph));
  if (const auto apart = fuse_updates_apart(unfused); num_updates(*apart) > num_updates(*graph)) {
    Fitted fitted = fit_by_repeating(apart, budget, kSecondsAlone);
    const double slower = whole > 0 ? estimated_seconds(plan::Lowering(*apart)) / whole - 1 : 0;
    fitted.given_peak = best.given_peak;
    fitted.added_time = std::max(0.0, (1 + slower) * (1 + fitted.added_time) - 1);
    if (is_better(fitted, best)) best = std::move(fitted);
    if (best.fits && best.added_time < kCheapEnough) return best;
  }
  size_t combined = 0;
  for (SplitAttempt& split : find_splits(unfused, budget)) {
    const double slower = whole > 0 ? split.seconds / whole - 1 : 0;
    const bool fits = split.peak <= budget;
    Fitted with{split.graph, split.peak, best.given_peak, std::max(0.0, slower), 0,
                split.notes, fits};
    if (is_better(with, best)) best = with;
    // What is split already takes longer than the best: repeating more does not help.
    if (fits || combined == kCombined || (best.fits && slower >= best.added_time)) continue;
    if (split.graph->nodes().size() > kMostCombinedSteps) continue;
    ++combined;
    Fitted both = fit_by_repeating(split.graph, budget, kSecondsCombined);
    both.given_peak = best.given_peak;
    both.added_time = std::max(0.0, (1 + slower) * (1 + both.added_time) - 1);
    both.splits = std::move(split.notes);
    if (is_better(both, best)) best = std::move(both);
  }
  return best;
}

}  // namespace tidemark::compile
