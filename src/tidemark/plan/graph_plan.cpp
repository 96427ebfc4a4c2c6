#include "tidemark/plan/graph_plan.h"

#include <algorithm>
#include <chrono>

#include "tidemark/base/settings.h"
#include "tidemark/memory/buffer.h"
#include "tidemark/plan/donations.h"
#include "tidemark/plan/lowering.h"
#include "tidemark/plan/order/check_reads.h"
#include "tidemark/plan/order/lifetimes.h"
#include "tidemark/plan/order/load.h"
#include "tidemark/plan/order/order.h"
#include "tidemark/plan/pack/check.h"
#include "tidemark/plan/pack/offsets.h"

namespace tidemark::plan {

namespace {

/// Below this many bytes nobody gains from a better plan than the first one.
constexpr int64_t kWorthSearching = 256 << 10;
constexpr int64_t kAlignment = static_cast<int64_t>(memory::kAlignment);

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

double usual_seconds() {
  return static_cast<double>(settings::integer(settings::kPlanTime)) / 1000;
}

/// Places what an order of the ops leaves to be placed.
class Placing {
 public:
  Placing(const Lowering& lowered, const std::vector<int>& order, double seconds)
      : lowered_(lowered),
        order_(order),
        lifetimes_(find_lifetimes(lowered.problem, order, kAlignment)) {
    find_arena_buffers();
    std::vector<LiveRange> packed;
    for (const int range : in_arena_) packed.push_back(lifetimes_.ranges[range]);
    const Packing packing = pack(packed, {.seconds = seconds});
    if (auto fault = find_fault(packed, packing.offsets, packing.peak)) {
      fail<InternalError>("a plan is wrong: ", *fault);
    }
    arena_bytes_ = packing.peak;
    offsets_.assign(lifetimes_.ranges.size(), 0);
    for (size_t i = 0; i < in_arena_.size(); ++i) offsets_[in_arena_[i]] = packing.offsets[i];
    place_the_rest();
    check_reads();
  }

  void fill(GraphPlan& plan) const {
    plan.values = lowered_.values;
    plan.arena_bytes = arena_bytes_;
    for (size_t i = 0; i < plan.values.size(); ++i) fill(plan.values[i], static_cast<int>(i));
    for (const auto& takeover : lifetimes_.takeovers) {
      plan.values[takeover.output].takes_over = takeover.input;
    }
    for (const int op : order_) {
      PlannedStep step = lowered_.steps[op];
      if (step.workspace > 0) step.workspace_offset = offsets_[lifetimes_.workspace_of_op[op]];
      plan.steps.push_back(step);
    }
    plan.result_bytes = 0;
    for (size_t b = 0; b < lifetimes_.ranges.size(); ++b) {
      if (is_result_[b]) plan.result_bytes += lifetimes_.ranges[b].size;
    }
    find_loads(plan);
    find_outside(plan);
  }

 private:
  int buffer_of(int value) const { return lifetimes_.of_value[value]; }

  void find_arena_buffers() {
    const size_t count = lifetimes_.ranges.size();
    std::vector<char> is_fresh(count, 0);
    is_result_.assign(count, 0);
    for (size_t i = 0; i < lowered_.values.size(); ++i) {
      const int value = static_cast<int>(i), buffer = buffer_of(value);
      if (buffer == kNone) continue;
      const bool is_result = lowered_.values[i].is_result;
      if (is_result || !lowered_.is_placed(value)) is_fresh[buffer] = 1;
      if (is_result) is_result_[buffer] = 1;
    }
    for (size_t b = 0; b < count; ++b) {
      if (!is_fresh[b]) in_arena_.push_back(static_cast<int>(b));
    }
    is_fresh_ = std::move(is_fresh);
  }

  /// For the checker only: buffers of their own lie behind the arena, each apart.
  void place_the_rest() {
    int64_t end = round_up(arena_bytes_, kAlignment);
    for (size_t b = 0; b < is_fresh_.size(); ++b) {
      if (!is_fresh_[b]) continue;
      offsets_[b] = end;
      end += round_up(lifetimes_.ranges[b].size, kAlignment);
    }
  }

  int64_t offset_of(int value) const {
    int64_t within = 0;
    for (int v = value; lowered_.values[v].view_of != kNone; v = lowered_.values[v].view_of) {
      within += lowered_.values[v].view_offset;
    }
    const int buffer = buffer_of(value);
    return buffer == kNone ? 0 : offsets_[buffer] + within;
  }

  void check_reads() const {
    Placement placement;
    for (size_t i = 0; i < lowered_.values.size(); ++i) {
      placement.value_offsets.push_back(offset_of(static_cast<int>(i)));
    }
    for (const int buffer : lifetimes_.workspace_of_op) {
      placement.workspace_offsets.push_back(buffer == kNone ? 0 : offsets_[buffer]);
    }
    if (auto fault = find_stale_read(lowered_.problem, order_, placement)) {
      fail<InternalError>("a plan is wrong: ", *fault);
    }
  }

  void fill(PlannedValue& value, int index) const {
    const int buffer = buffer_of(index);
    const bool is_ours = !lowered_.problem.values[lowered_.root_of(index)].external;
    if (buffer != kNone) {
      value.first = static_cast<int>(lifetimes_.ranges[buffer].lower);
      value.last = static_cast<int>(lifetimes_.ranges[buffer].upper) - 1;
    }
    if (!is_ours) return;
    const bool in_arena =
        buffer == kNone ? lowered_.is_placed(index) && !value.is_result : !is_fresh_[buffer];
    value.place = in_arena ? Place::arena : Place::fresh;
    value.offset = in_arena ? offset_of(index) : 0;
  }

  void find_loads(GraphPlan& plan) const {
    std::vector<int64_t> change(order_.size() + 1, 0);
    for (const LiveRange& range : lifetimes_.ranges) {
      change[range.lower] += range.size;
      change[range.upper] -= range.size;
    }
    int64_t load = 0;
    for (size_t i = 0; i < order_.size(); ++i) {
      load += change[i];
      plan.steps[i].load = load + plan.steps[i].inner;
      plan.lower_bound = std::max(plan.lower_bound, plan.steps[i].load);
    }
  }

  /// Buffers of their own, and what branches and loops take inside.
  void find_outside(GraphPlan& plan) const {
    std::vector<int64_t> change(order_.size() + 1, 0);
    for (size_t b = 0; b < is_fresh_.size(); ++b) {
      if (!is_fresh_[b]) continue;
      change[static_cast<size_t>(lifetimes_.ranges[b].lower)] += lifetimes_.ranges[b].size;
      change[static_cast<size_t>(lifetimes_.ranges[b].upper)] -= lifetimes_.ranges[b].size;
    }
    int64_t bytes = 0;
    for (size_t i = 0; i < order_.size(); ++i) {
      bytes += change[i];
      plan.steps[i].outside = bytes + plan.steps[i].inner;
      plan.outside = std::max(plan.outside, plan.steps[i].outside);
    }
  }

  const Lowering& lowered_;
  const std::vector<int>& order_;
  Lifetimes lifetimes_;
  std::vector<int> in_arena_;
  std::vector<char> is_fresh_, is_result_;
  std::vector<int64_t> offsets_;
  int64_t arena_bytes_ = 0;
};

}  // namespace

int GraphPlan::root_of(int value) const {
  while (values[static_cast<size_t>(value)].view_of != kNone) {
    value = values[static_cast<size_t>(value)].view_of;
  }
  return value;
}

int GraphPlan::value_of(const Tensor& t) const {
  if (!t.is_symbolic()) return kNone;
  const graph::Node* node = &graph::node_of(t);
  const auto found =
      std::lower_bound(first_values.begin(), first_values.end(), std::pair(node, kNone));
  return found->second + static_cast<int>(graph::symbolic(t).index);
}

GraphPlan plan_graph(const graph::Graph& graph, const GraphPlanOptions& options) {
  const double start = now();
  Lowering lowered(graph);
  for (size_t op = 0; op < lowered.steps.size(); ++op) {
    PlannedStep& step = lowered.steps[op];
    if (step.kind != PlannedStep::Kind::special) continue;
    const graph::InnerNeed need = step.node->special->inner_need(step.node->inputs);
    step.inner = need.outside;
    step.workspace = lowered.problem.ops[op].workspace = need.arena;
  }
  GraphPlan plan;
  int64_t bytes = 0;
  for (const Value& value : lowered.problem.values) bytes += value.external ? 0 : value.bytes;
  const double most = bytes < kWorthSearching ? 0 : options.seconds.value_or(usual_seconds());
  const OrderResult order = find_order(lowered.problem, {.seconds = most / 2});
  const double left = std::max(0.0, most - (now() - start));
  Placing(lowered, order.order, left).fill(plan);
  plan.traced_peak = order.given_peak;
  plan.first_values.assign(lowered.first_value.begin(), lowered.first_value.end());
  std::sort(plan.first_values.begin(), plan.first_values.end());
  for (const Tensor& t : graph.inputs()) plan.input_values.push_back(lowered.value_of(t));
  for (const Tensor& t : graph.outputs()) plan.output_values.push_back(lowered.value_of(t));
  find_donations(plan, options.donated);
  plan.peak = plan.arena_bytes + plan.outside;
  plan.seconds = now() - start;
  return plan;
}

}  // namespace tidemark::plan
