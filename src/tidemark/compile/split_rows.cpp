#include "tidemark/compile/split_rows.h"

#include <algorithm>
#include <numeric>

#include "tidemark/compile/rewrite.h"
#include "tidemark/kernels/row_parts.h"
#include "tidemark/tensor/kept_for_runs.h"

namespace tidemark::compile {

namespace {

using plan::kNone;

/// The op that makes each value; kNone: an input.
std::vector<int> makers_of(const plan::Lowering& lowered) {
  std::vector<int> makers(lowered.values.size(), kNone);
  for (size_t op = 0; op < lowered.problem.ops.size(); ++op) {
    for (const int value : lowered.problem.ops[op].outputs) makers[value] = static_cast<int>(op);
  }
  return makers;
}

std::optional<RowRule> rule_of(const graph::Node& node, int64_t units) {
  if (!node.op || !node.before.empty()) return std::nullopt;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (i < 32 && node.op->has_rows_from_values(static_cast<int>(i))) return std::nullopt;
    shapes.push_back(node.outputs[i].shape);
  }
  return row_rule(OpCall{*node.op, node.inputs, node.attrs}, shapes, units);
}

class RegionSearch {
 public:
  RegionSearch(const plan::Lowering& lowered, int64_t units)
      : lowered_(lowered), makers_(makers_of(lowered)) {
    region_.units = units;
    region_.is_inside.assign(lowered.steps.size(), 0);
    rules_.resize(lowered.steps.size());
    depends_.assign(lowered.steps.size(), 0);
    component_.resize(lowered.steps.size());
    std::iota(component_.begin(), component_.end(), 0);
  }

  void grow(const std::vector<int>& order, size_t first, size_t last) {
    for (size_t at = first; at < last; ++at) {
      const int op = order[at];
      if (fits(op)) {
        region_.is_inside[op] = 1;
        for (const int value : lowered_.problem.ops[op].inputs) join(op, makers_[value]);
      } else {
        rules_[op].reset();
        depends_[op] = depends_on_region(op);
      }
    }
  }

  std::optional<RowRegion> finish(const std::vector<int>& wanted) {
    std::vector<char> is_wanted(component_.size(), 0);
    for (const int op : wanted) {
      if (region_.is_inside[op]) is_wanted[root(op)] = 1;
    }
    for (size_t op = 0; op < rules_.size(); ++op) {
      if (!region_.is_inside[op]) continue;
      region_.is_inside[op] = is_wanted[root(static_cast<int>(op))];
      if (!region_.is_inside[op]) continue;
      region_.ops.push_back(static_cast<int>(op));
      region_.rules.push_back(std::move(*rules_[op]));
    }
    sort_values();
    if (region_.inner.empty()) return std::nullopt;
    return std::move(region_);
  }

 private:
  int root(int op) {
    while (component_[op] != op) op = component_[op] = component_[component_[op]];
    return op;
  }
  void join(int op, int other) {
    if (other != kNone && region_.is_inside[other]) component_[root(other)] = root(op);
  }

  bool depends_on_region(int op) const {
    const auto counts = [&](int other) {
      return other != kNone && (region_.is_inside[other] || depends_[other]);
    };
    const plan::Op& planned = lowered_.problem.ops[op];
    return std::any_of(planned.after.begin(), planned.after.end(), counts) ||
           std::any_of(planned.inputs.begin(), planned.inputs.end(),
                       [&](int value) { return counts(makers_[value]); });
  }

  /// Rows that the region makes are used as rows, and nothing comes from outside that waits for the
  /// region itself.
  bool fits(int op) {
    const graph::Node& node = *lowered_.steps[op].node;
    rules_[op] = rule_of(node, region_.units);
    if (!rules_[op]) return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int value = lowered_.value_of(node.inputs[i]);
      const int maker = value == kNone ? kNone : makers_[value];
      if (maker == kNone) continue;
      if (depends_[maker]) return false;
      if (!region_.is_inside[maker]) continue;
      const RowResult made = rules_[maker]->outputs[lowered_.values[value].output];
      if (made != RowResult::rows || rules_[op]->inputs[i] != RowRole::rows) return false;
    }
    return true;
  }

  void sort_values() {
    std::vector<char> is_needed(lowered_.values.size(), 0);
    for (size_t i = 0; i < lowered_.values.size(); ++i) is_needed[i] = lowered_.values[i].is_result;
    for (size_t op = 0; op < lowered_.problem.ops.size(); ++op) {
      if (region_.is_inside[op]) continue;
      for (const int value : lowered_.problem.ops[op].inputs) is_needed[value] = 1;
    }
    for (size_t i = 0; i < region_.ops.size(); ++i) {
      const std::vector<int>& outputs = lowered_.problem.ops[region_.ops[i]].outputs;
      for (size_t o = 0; o < outputs.size(); ++o) {
        const bool is_rows = region_.rules[i].outputs[o] == RowResult::rows;
        if (!is_rows && is_needed[outputs[o]]) region_.accumulated.push_back(outputs[o]);
        if (is_rows)
          (is_needed[outputs[o]] ? region_.boundary : region_.inner).push_back(outputs[o]);
      }
    }
  }

  const plan::Lowering& lowered_;
  const std::vector<int> makers_;
  RowRegion region_;
  std::vector<std::optional<RowRule>> rules_;
  std::vector<char> depends_;
  std::vector<int> component_;
};

// --- putting the graph together
// -------------------------------------------------------------------

/// Who of those around the region runs before it: what it needs, and no more.
class Surroundings {
 public:
  Surroundings(const plan::Lowering& lowered, const RowRegion& region)
      : lowered_(lowered), region_(region), is_early_(lowered.steps.size(), 0) {
    const std::vector<int> makers = makers_of(lowered);
    for (int op = region.ops.back(); op >= region.ops.front(); --op) {
      if (!region.is_inside[op] && !is_early_[op]) continue;
      for (const int value : lowered.problem.ops[op].inputs) note(makers[value]);
      for (const int before : lowered.problem.ops[op].after) note(before);
    }
  }

  bool is_early(int op) const { return op < region_.ops.front() || is_early_[op]; }

  /// What changes variables, or may do anything, overtakes nobody, and nobody who has effects
  /// overtakes that; what draws or has a token keeps its place among its like.
  bool keep_order() const {
    bool late_before = false, late_draw_before = false, late_effect_before = false;
    for (int op = region_.ops.front(); op <= region_.ops.back(); ++op) {
      const graph::Effects effects = graph::effects_of(*lowered_.steps[op].node);
      const bool changes = effects.is_barrier || !effects.writes.empty();
      const bool draws = effects.draws || effects.token != 0;
      if (is_early(op)) {
        if (changes && late_before) return false;
        if (effects.touches_variables() && late_effect_before) return false;
        if (draws && late_draw_before) return false;
        continue;
      }
      late_before = true;
      late_draw_before = late_draw_before || draws;
      late_effect_before = late_effect_before || changes;
    }
    return true;
  }

 private:
  void note(int op) {
    if (op != kNone && op >= region_.ops.front() && !region_.is_inside[op]) is_early_[op] = 1;
  }

  const plan::Lowering& lowered_;
  const RowRegion& region_;
  std::vector<char> is_early_;
};

class Splitting {
 public:
  Splitting(const graph::Graph& graph, const plan::Lowering& lowered, const RowRegion& region,
            int64_t pieces)
      : lowered_(lowered), region_(region), now_(graph), wholes_(lowered.values.size()) {
    const Surroundings around(lowered, region);
    if (!around.keep_order()) return;
    const int first = region.ops.front(), end = static_cast<int>(lowered.steps.size());
    for (int op = 0; op < end; ++op) {
      if (op < first || (!region.is_inside[op] && around.is_early(op))) copy(op);
    }
    const int64_t size = (region.units + pieces - 1) / pieces;
    for (int64_t begin = 0; begin < region.units; begin += size) {
      add_piece(begin, std::min(region.units, begin + size));
    }
    for (const std::vector<int>* values : {&region.boundary, &region.accumulated}) {
      for (const int value : *values) {
        const plan::PlannedValue& v = lowered.values[value];
        now_.set(*v.node, v.output, wholes_[value]);
      }
    }
    for (int op = first; op < end; ++op) {
      if (!region.is_inside[op] && !around.is_early(op)) copy(op);
    }
    graph_ = now_.finish();
  }
  std::shared_ptr<graph::Graph> graph() { return std::move(graph_); }

 private:
  void copy(int op) { now_.copy(*lowered_.steps[op].node); }

  void add_piece(int64_t begin, int64_t end) {
    begin_ = begin;
    end_ = end;
    parts_.clear();
    for (size_t i = 0; i < region_.ops.size(); ++i) add_part(i);
    for (const int value : region_.boundary) put(value);
  }

  int64_t rows_from(const Shape& whole, int64_t unit) const {
    return whole[0] / region_.units * unit;
  }

  void add_part(size_t index) {
    const graph::Node& node = *lowered_.steps[region_.ops[index]].node;
    const RowRule& rule = region_.rules[index];
    const OpCall call{*node.op, node.inputs, node.attrs};
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      inputs.push_back(rule.inputs[i] == RowRole::rows    ? part_of(node.inputs[i], node)
                       : rule.inputs[i] == RowRole::whole ? now_.at(node.inputs[i])
                                                          : Tensor());
    }
    inputs = inputs_of_part(call, node.outputs[0].shape, rule, std::move(inputs), begin_, end_,
                            region_.units);
    const Tensor made = now_.add(*node.op, std::move(inputs), node.attrs, node);
    graph::Node& part = graph::node_of(made);
    const std::vector<int>& outputs = lowered_.problem.ops[region_.ops[index]].outputs;
    for (uint32_t o = 0; o < outputs.size(); ++o) {
      const Tensor output = o == 0 ? made : graph::output_of(part, o);
      check(node, o, output, rule.outputs[o]);
      parts_[outputs[o]] = output;
      if (rule.outputs[o] != RowResult::rows) accumulate(outputs[o], output, rule.outputs[o]);
    }
  }

  void check(const graph::Node& node, uint32_t output, const Tensor& part, RowResult result) const {
    Shape expected = node.outputs[output].shape;
    if (result == RowResult::rows) {
      expected[0] = rows_from(expected, end_) - rows_from(expected, begin_);
    }
    if (part.shape() == expected && part.dtype() == node.outputs[output].dtype) return;
    fail<InternalError>("a part of '", graph::kind_of(node), "' has shape ", part.shape(), ", not ",
                        expected);
  }

  /// Of what comes from outside, a view. It lies where the whole does: the results of a loop may
  /// lie on several devices.
  Tensor part_of(const Tensor& whole, const graph::Node& user) {
    const int value = lowered_.value_of(whole);
    if (value != kNone) {
      if (const auto known = parts_.find(value); known != parts_.end()) return known->second;
    }
    const Shape& shape = whole.shape();
    Ints from(static_cast<size_t>(shape.rank()), 0), sizes(shape.begin(), shape.end());
    from[0] = rows_from(shape, begin_);
    sizes[0] = rows_from(shape, end_) - from[0];
    const auto vector = [&](const Ints& v) {
      return Tensor::of(std::span<const int64_t>(v), {shape.rank()});
    };
    const graph::Node& like = whole.is_symbolic() ? graph::node_of(whole) : user;
    const Tensor part = now_.add(OpRegistry::instance().get("slice"),
                                 {now_.at(whole), vector(from), vector(sizes)}, {}, like);
    graph::Node& view = graph::node_of(part);
    view.outputs[0].device = whole.device();
    view.wish = whole.device();
    if (value != kNone) parts_[value] = part;
    return part;
  }

  void put(int value) {
    const plan::PlannedValue& v = lowered_.values[value];
    const graph::OutputInfo& info = v.node->outputs[v.output];
    auto special = std::make_shared<const PutRows>(info.shape, rows_from(info.shape, begin_));
    std::vector<Tensor> inputs;
    if (wholes_[value]) inputs.push_back(wholes_[value]);
    inputs.push_back(parts_[value]);
    const graph::NodeRef node = now_.add(std::move(special), std::move(inputs), {info}, *v.node);
    wholes_[value] = graph::output_of(*node, 0);
  }

  /// Adding is fused with what makes the part; the sum so far is held, so that it is not fused with
  /// all other parts. A result has memory of its own, in which it has to be added up.
  void accumulate(int value, Tensor part, RowResult result) {
    if (!std::binary_search(region_.accumulated.begin(), region_.accumulated.end(), value)) return;
    const graph::Node& like = *lowered_.values[value].node;
    if (result == RowResult::mean) part = now_.add(op("multiply"), {part, weight(part)}, {}, like);
    Tensor& whole = wholes_[value];
    if (whole) {
      if (lowered_.values[value].is_result) part = held(part, like);
      const char* how = result == RowResult::maximum   ? "maximum"
                        : result == RowResult::minimum ? "minimum"
                                                       : "add";
      part = now_.add(op(how), {held(whole, like), part}, {}, like);
    }
    whole = part;
  }

  Tensor held(const Tensor& t, const graph::Node& like) {
    static const auto& hold = *new auto(std::make_shared<const Hold>());
    const graph::OutputInfo info{t.dtype(), t.shape(), 0, graph::device_of(like)};
    return graph::output_of(*now_.add(hold, {t}, {info}, like), 0);
  }

  static const OpDef& op(const char* name) { return OpRegistry::instance().get(name); }
  Tensor weight(const Tensor& like) const {
    const double share = static_cast<double>(end_ - begin_) / static_cast<double>(region_.units);
    const Tensor here =
        like.dtype() == DType::float64 ? Tensor(share) : Tensor(static_cast<float>(share));
    return kept_for_runs(here.to(like.device()));
  }

  const plan::Lowering& lowered_;
  const RowRegion& region_;
  Rewriter now_;
  std::unordered_map<int, Tensor> parts_;  // by value, of the piece being added
  std::vector<Tensor> wholes_;             // by value, as far as they are put together
  int64_t begin_ = 0, end_ = 0;
  std::shared_ptr<graph::Graph> graph_;
};

}  // namespace

std::optional<RowRegion> find_region(const plan::Lowering& lowered, const std::vector<int>& order,
                                     size_t first, size_t last, int64_t units,
                                     const std::vector<int>& wanted) {
  RegionSearch search(lowered, units);
  search.grow(order, first, last);
  std::optional<RowRegion> region = search.finish(wanted);
  if (region) std::sort(region->accumulated.begin(), region->accumulated.end());
  return region;
}

int64_t pieces_of(int64_t units, int64_t wanted) {
  const int64_t size = (units + wanted - 1) / wanted;
  return (units + size - 1) / size;
}

std::shared_ptr<graph::Graph> split_rows(const graph::Graph& graph, const plan::Lowering& lowered,
                                         const RowRegion& region, int64_t pieces) {
  return Splitting(graph, lowered, region, pieces).graph();
}

}  // namespace tidemark::compile
