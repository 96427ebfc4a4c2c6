#include "tidemark/compile/fuse_graph.h"

#include <tidemark/kernel.h>

#include <algorithm>

#include "tidemark/compile/rewrite.h"
#include "tidemark/compile/target.h"
#include "tidemark/graph/specials.h"
#include "tidemark/kernels/fusion/compiler.h"

namespace tidemark::compile {

namespace {

constexpr int kMaxRank = 8;
constexpr DTypeSet kCasts = kFloats | kBool | dtype_set(DType::int32, DType::int64);

bool is_known(const Shape& shape) { return shape.is_fully_known() && shape.rank() <= kMaxRank; }

/// Which dimensions are reduced; none: not known.
std::vector<bool> reduced_dims(const graph::Node& node) {
  const int rank = node.inputs[0].rank();
  const Attr& axis = node.attrs[static_cast<size_t>(node.op->attr_index("axis"))];
  std::vector<bool> flags(static_cast<size_t>(rank), axis.is_none());
  if (axis.is_none()) return flags;
  for (const int64_t a : axis.as_ints()) {
    if (a < -rank || a >= rank) return std::vector<bool>(static_cast<size_t>(rank));
    flags[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  }
  return flags;
}

/// What fusion calls the reduction; none: it has no instruction for it.
std::optional<fusion::Reduction> fused_reduction(const OpDef& op) {
  switch (op.reduction_kind()) {
    case ReductionKind::sum:
      return fusion::Reduction::sum;
    case ReductionKind::mean:
      return fusion::Reduction::mean;
    case ReductionKind::maximum:
      return fusion::Reduction::max;
    case ReductionKind::minimum:
      return fusion::Reduction::min;
    case ReductionKind::none:
    case ReductionKind::product:
    case ReductionKind::logical:
    case ReductionKind::other:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Shares the elements of its first input, or may: reading it later reads a variable.
bool may_be_view(const graph::Node& node) {
  if (!node.op) return !graph::is_constant(node);
  return !node.op->is_elementwise() && !kernels_of(*node.op);
}

}  // namespace

FuseGraph::FuseGraph(const graph::Graph& graph) {
  for (graph::Node* node : graph.nodes()) {
    number_.emplace(node, static_cast<int>(nodes.size()));
    nodes.push_back({});
    nodes.back().node = node;
  }
  alias_of_.assign(nodes.size(), -1);
  lies_in_variable_.assign(nodes.size(), false);
  segment_.assign(nodes.size(), 0);
  after.resize(nodes.size());
  is_output.assign(nodes.size(), false);
  for (const Tensor& t : graph.outputs()) {
    if (const int n = number_of(t); n >= 0) is_output[static_cast<size_t>(n)] = true;
  }
  for (FusableNode& n : nodes) classify(n);
  find_aliases();
  order_effects();
  for (size_t i = 0; i < nodes.size(); ++i) {
    FusableNode& n = nodes[i];
    const auto needs = [&](int producer) {
      if (producer >= 0) after[static_cast<size_t>(producer)].push_back(static_cast<int>(i));
    };
    for (const Tensor& t : n.node->inputs) {
      if (!n.can_be_member()) {
        needs(number_of(t));
      } else if (n.kind == FusedKind::random) {
        // Its shape is known; its seed is read as it is, and nothing to fuse with.
        if (&t == &n.node->inputs[1]) {
          n.operands.push_back({t, -1});
          needs(number_of(t));
        }
      } else {
        n.operands.push_back(resolve(t));
        needs(n.operands.back().producer);
      }
    }
    for (const graph::NodeRef& before : n.node->before) {
      const auto known = number_.find(before.get());
      if (known == number_.end()) continue;
      needs(known->second);
      ordered.emplace_back(known->second, static_cast<int>(i));
    }
  }
  for (auto& users : after) {
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
  }
}

int FuseGraph::number_of(const Tensor& t) const {
  if (!t.is_symbolic()) return -1;
  const auto known = number_.find(&graph::node_of(t));
  return known == number_.end() ? -1 : known->second;
}

const Variable* FuseGraph::assigned(int n) const {
  const graph::Node& node = *nodes[static_cast<size_t>(n)].node;
  const graph::VariableUpdate* update = graph::update_of(node);
  if (!update || !update->is_assignment() || !node.before.empty()) return nullptr;
  return node.outputs.empty() ? &update->variable : nullptr;
}

const Variable* FuseGraph::read(const Tensor& t) const {
  const int n = number_of(t);
  return n < 0 ? nullptr : graph::shown_variable(*nodes[static_cast<size_t>(n)].node);
}

bool FuseGraph::is_looked_through(int n) const {
  const auto i = static_cast<size_t>(n);
  if (is_output[i] || !after[i].empty()) return false;
  const graph::Node& node = *nodes[i].node;
  return alias_of_[i] >= 0 || (node.op && node.op->repeated_input() >= 0);
}

bool FuseGraph::is_reshaping(int n) const {
  const graph::Node& node = *nodes[static_cast<size_t>(n)].node;
  return node.op && node.op->is_reshaping() && node.before.empty() &&
         is_known(node.inputs[0].shape()) && is_known(node.outputs[0].shape);
}

void FuseGraph::classify(FusableNode& n) const {
  const graph::Node& node = *n.node;
  if (!node.op || node.outputs.size() != 1 || node.op->is_stateful() || !node.before.empty())
    return;
  if (!is_known(node.outputs[0].shape) || node.inputs.empty()) return;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor& t = node.inputs[i];
    if (!is_known(t.shape())) return;
    // A program reads what lies on its own device.
    if (t.device() != node.outputs[0].device && !node.op->reads_on_host(i)) return;
  }
  const std::string& name = node.op->name();
  const DType in = node.inputs[0].dtype();
  const fusion::Compiler& compiler = target_of(node).fusion();
  if (compiler.takes_programs(*node.op, node.outputs[0].dtype)) {
    n.kind = FusedKind::product;
  } else if (name == "cast") {
    if (kCasts.contains(in) && kCasts.contains(node.outputs[0].dtype)) n.kind = FusedKind::cast;
  } else if (name == "select") {
    if (kCasts.contains(node.outputs[0].dtype)) n.kind = FusedKind::select;
  } else if (node.op->reduction_kind() != ReductionKind::none) {
    classify_reduction(n);
  } else if (node.op->distribution() != Distribution::none) {
    classify_random(n);
  } else if (compiler.can_fuse(*node.op, in) && node.inputs.size() <= 3) {
    for (const Tensor& t : node.inputs) {
      if (t.dtype() != in) return;
    }
    n.kind = FusedKind::map;
    n.is_heavy = compiler.is_heavy(*node.op, in);
  }
}

void FuseGraph::classify_random(FusableNode& n) const {
  const graph::Node& node = *n.node;
  if (node.outputs[0].dtype != DType::float32) return;
  if (!target_of(node).fusion().can_have(fusion::Code::random)) return;
  const Distribution distribution = node.op->distribution();
  n.drawn = distribution == Distribution::uniform  ? fusion::Drawn::uniform
            : distribution == Distribution::normal ? fusion::Drawn::normal
                                                   : fusion::Drawn::truncated_normal;
  n.kind = FusedKind::random;
  n.is_heavy = true;
}

void FuseGraph::classify_reduction(FusableNode& n) const {
  const graph::Node& node = *n.node;
  const DType dtype = node.inputs[0].dtype();
  const std::optional<fusion::Reduction> reduction = fused_reduction(*node.op);
  if (!reduction) return;
  const bool fits = is_floating(dtype) || (*reduction != fusion::Reduction::mean &&
                                           (dtype == DType::int32 || dtype == DType::int64));
  const std::vector<bool> reduced = reduced_dims(node);
  const auto first = std::find(reduced.begin(), reduced.end(), true);
  const auto after_first = std::find(first, reduced.end(), false);
  if (!fits || first == reduced.end()) return;
  const bool is_last = after_first == reduced.end();
  // Only the first dimensions, all of them together.
  if (!is_last &&
      (first != reduced.begin() || std::find(after_first, reduced.end(), true) != reduced.end())) {
    return;
  }
  const fusion::Code code = is_last ? fusion::Code::reduce : fusion::Code::collect;
  if (!target_of(node).fusion().can_have(code)) return;
  n.kind = is_last ? FusedKind::reduce : FusedKind::collect;
  n.row_dims = static_cast<int>(reduced.end() - (is_last ? first : after_first));
  n.reduction = *reduction;
  n.kept_shape = node.inputs[0].shape();
  for (int d = 0; d < n.kept_shape.rank(); ++d) {
    if (reduced[static_cast<size_t>(d)]) n.kept_shape[d] = 1;
  }
  n.drops_dims = !node.attrs[static_cast<size_t>(node.op->attr_index("keepdims"))].as_bool();
}

/// A reduction that drops dimensions which all that use it put back, keeps them.
void FuseGraph::find_aliases() {
  std::vector<std::vector<int>> users(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Tensor& t : nodes[i].node->inputs) {
      if (const int p = number_of(t); p >= 0)
        users[static_cast<size_t>(p)].push_back(static_cast<int>(i));
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    FusableNode& n = nodes[i];
    if (!n.is_reduction() || !n.drops_dims || is_output[i] || users[i].empty()) continue;
    const bool all = std::all_of(users[i].begin(), users[i].end(), [&](int u) {
      const graph::Node& user = *nodes[static_cast<size_t>(u)].node;
      return user.op && user.op->is_reshaping() && user.before.empty() &&
             user.outputs[0].shape == n.kept_shape &&
             number_of(user.inputs[0]) == static_cast<int>(i);
    });
    if (!all) continue;
    n.aliases = users[i];
    n.drops_dims = false;
    for (const int u : users[i]) alias_of_[static_cast<size_t>(u)] = static_cast<int>(i);
  }
}

FusedOperand FuseGraph::resolve(const Tensor& t) const {
  FusedOperand operand{t, number_of(t)};
  while (operand.producer >= 0) {
    const auto p = static_cast<size_t>(operand.producer);
    const graph::Node& node = *nodes[p].node;
    if (alias_of_[p] >= 0) {
      operand.producer = alias_of_[p];
      return operand;
    }
    const int repeated = node.op ? node.op->repeated_input() : -1;
    if (repeated < 0 || !node.before.empty()) break;
    const Tensor& source = node.inputs[static_cast<size_t>(repeated)];
    // Which may change between the two.
    if (const int from = number_of(source);
        from >= 0 && lies_in_variable_[static_cast<size_t>(from)]) {
      break;
    }
    if (!is_known(source.shape()) || source.device() != t.device()) break;
    operand = {source, number_of(source)};
  }
  if (operand.producer >= 0 &&
      graph::is_constant(*nodes[static_cast<size_t>(operand.producer)].node)) {
    operand.load = nodes[static_cast<size_t>(operand.producer)].node->inputs[0];
    operand.producer = -1;
  }
  return operand;
}

/// What reads a variable runs before what changes it next, and effects keep their order. Updates of
/// different variables have no order among each other: one that stands between those of a sweep
/// must not hold it up.
void FuseGraph::order_effects() {
  graph::EffectOrder order;
  std::unordered_map<int, uint64_t> variable_of;  // values that lie in a variable
  const auto edge = [&](int from, int to) {
    after[static_cast<size_t>(from)].push_back(to);
    ordered.emplace_back(from, to);
  };
  int segment = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const graph::Node& node = *nodes[i].node;
    const int now = static_cast<int>(i);
    segment_[i] = segment;
    for (const Tensor& t : node.inputs) {
      const int producer = number_of(t);
      const auto lies = variable_of.find(producer);
      if (lies == variable_of.end()) continue;
      order.use(lies->second, now);
      if (may_be_view(node)) {
        variable_of.emplace(now, lies->second);
        lies_in_variable_[i] = true;
      }
      // The variable has changed since it was read: leave the node where it is.
      const int changed = order.last_change(lies->second);
      if (changed <= producer) continue;
      nodes[i].kind = FusedKind::none;
      edge(changed, now);
    }
    const graph::Effects effects = graph::effects_of(node);
    for (const int other : order.add(now, effects)) edge(other, now);
    segment += effects.is_barrier;
    if (const Variable* shown = graph::shown_variable(node)) {
      variable_of.emplace(now, shown->id());
      lies_in_variable_[i] = true;
    }
  }
}

}  // namespace tidemark::compile
