// Chains of elementwise ops, and reductions over rows and columns among them, become one node each.

#include <algorithm>
#include <queue>

#include "tidemark/base/settings.h"
#include "tidemark/compile/fuse_sweep.h"
#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/compile/target.h"

namespace tidemark::compile {

namespace {

class Fuser {
 public:
  /// Gradients of more than `most_whole` bytes do not wait for the others' updates.
  Fuser(const graph::Graph& graph, size_t most_whole)
      : graph_(graph),
        most_whole_(most_whole),
        g_(graph),
        groups_(find_groups(g_)),
        programs_(groups_.size()),
        products_(groups_.size()) {
    group_of_.assign(g_.size(), -1);
    for (size_t k = 0; k < groups_.size(); ++k) {
      put_nodes(groups_[k], static_cast<int>(k));
    }
  }

  /// Null: nothing is fused.
  std::shared_ptr<graph::Graph> run() {
    while (!write_programs()) {
    }
    if (std::none_of(programs_.begin(), programs_.end(), [](const auto& p) { return p; }))
      return {};
    drop_products_if([&](size_t k) { return !is_worth_waiting(g_, groups_[k], most_whole_); });
    sweep();
    Rewriter now(graph_);
    for (const int unit : order_or_apart()) {
      if (unit < static_cast<int>(g_.size())) {
        const graph::Node& node = *g_.nodes[static_cast<size_t>(unit)].node;
        if (!graph::is_placeholder(node)) now.copy(node);
      } else if (unit < first_sweep()) {
        add_group(now, static_cast<size_t>(unit) - g_.size());
      } else {
        add_sweep(now, sweeps_[static_cast<size_t>(unit - first_sweep())]);
      }
    }
    return now.finish();
  }

 private:
  /// The nodes of a group belong to it, or (-1) to none.
  void put_nodes(const FuseGroup& group, int k) {
    for (const int m : group.members) group_of_[static_cast<size_t>(m)] = k;
    put_product(group, k);
  }
  void put_product(const FuseGroup& group, int k) {
    if (group.product >= 0) group_of_[static_cast<size_t>(group.product)] = k;
    for (const int view : group.views) group_of_[static_cast<size_t>(view)] = k;
  }

  void drop_product(size_t k) {
    put_product(groups_[k], -1);
    groups_[k].product = -1;
    groups_[k].views.clear();
    if (programs_[k]) programs_[k]->product = -1;
  }

  int first_sweep() const { return static_cast<int>(g_.size() + groups_.size()); }

  /// Groups whose values are assigned run with their assignments.
  void sweep() {
    sweeps_ = find_sweeps(g_, groups_, programs_, most_whole_);
    sweep_of_group_.assign(groups_.size(), -1);
    sweep_of_node_.assign(g_.size(), -1);
    for (size_t s = 0; s < sweeps_.size(); ++s) {
      for (const SweptGroup& group : sweeps_[s]) {
        sweep_of_group_[group.group] = static_cast<int>(s);
        for (const int assign : group.assigns) {
          sweep_of_node_[static_cast<size_t>(assign)] = static_cast<int>(s);
        }
      }
    }
    // An update of another kind reads the whole product.
    drop_products_if([&](size_t k) { return sweep_of_group_[k] < 0; });
    find_live();
  }

  /// Of groups that update variables.
  template <class Condition>
  void drop_products_if(const Condition& condition) {
    for (size_t k = 0; k < groups_.size(); ++k) {
      if (groups_[k].updates && groups_[k].product >= 0 && condition(k)) drop_product(k);
    }
  }

  /// A node by itself, or behind all nodes a group, or behind all groups a sweep.
  int unit_of(int node) const {
    if (!sweep_of_node_.empty() && sweep_of_node_[static_cast<size_t>(node)] >= 0) {
      return first_sweep() + sweep_of_node_[static_cast<size_t>(node)];
    }
    const int group = group_for(node);
    if (group < 0) return node;
    if (!sweep_of_group_.empty() && sweep_of_group_[static_cast<size_t>(group)] >= 0) {
      return first_sweep() + sweep_of_group_[static_cast<size_t>(group)];
    }
    return static_cast<int>(g_.size()) + group;
  }
  int group_for(int node) const {
    const int reduction = g_.alias_of(node);
    const int in = reduction >= 0 && group_of_[static_cast<size_t>(reduction)] >= 0
                       ? group_of_[static_cast<size_t>(reduction)]
                       : group_of_[static_cast<size_t>(node)];
    return in;
  }

  /// The nodes a unit reads.
  std::vector<int> needs(int unit) const {
    std::vector<int> nodes;
    const auto add = [&](int n) {
      if (n >= 0) nodes.push_back(n);
    };
    if (unit < static_cast<int>(g_.size())) {
      const graph::Node& node = *g_.nodes[static_cast<size_t>(unit)].node;
      for (const Tensor& t : node.inputs) add(g_.number_of(t));
      return nodes;
    }
    if (unit < first_sweep()) {
      for (const int n : needs_of_group(static_cast<size_t>(unit) - g_.size())) add(n);
      return nodes;
    }
    for (const SweptGroup& group : sweeps_[static_cast<size_t>(unit - first_sweep())]) {
      const auto changes = [&](const Variable& v) {
        return std::any_of(group.assigns.begin(), group.assigns.end(),
                           [&](int a) { return *g_.assigned(a) == v; });
      };
      for (const int n : needs_of_group(group.group)) {
        // A variable that is changed is read where it lies.
        const Variable* v = g_.read(graph::output_of(*g_.nodes[static_cast<size_t>(n)].node, 0));
        if (!v || !changes(*v)) add(n);
      }
    }
    return nodes;
  }

  std::vector<int> needs_of_group(size_t k) const {
    std::vector<int> nodes;
    for (const int m : groups_[k].members) {
      for (const FusedOperand& o : g_.nodes[static_cast<size_t>(m)].operands) {
        if (o.producer >= 0 && group_for(o.producer) == static_cast<int>(k)) continue;
        if (const int n = g_.number_of(o.load); n >= 0) nodes.push_back(n);
      }
    }
    if (groups_[k].product < 0) return nodes;
    for (const Tensor& t : g_.nodes[static_cast<size_t>(groups_[k].product)].node->inputs) {
      if (const int n = g_.number_of(t); n >= 0) nodes.push_back(n);
    }
    return nodes;
  }

  /// Which units run, and which values leave their unit.
  void find_live() {
    const size_t units = g_.size() + groups_.size() + sweeps_.size();
    is_live_.assign(units, false);
    is_wanted_.assign(g_.size(), false);
    std::vector<int> todo;
    const auto want = [&](int node) {
      is_wanted_[static_cast<size_t>(node)] = true;
      const auto unit = static_cast<size_t>(unit_of(node));
      if (is_live_[unit]) return;
      is_live_[unit] = true;
      todo.push_back(static_cast<int>(unit));
    };
    for (size_t i = 0; i < g_.size(); ++i) {
      if (g_.is_output[i] || is_kept(*g_.nodes[i].node)) want(static_cast<int>(i));
    }
    while (!todo.empty()) {
      const int unit = todo.back();
      todo.pop_back();
      for (const int node : needs(unit)) want(node);
      if (unit >= static_cast<int>(g_.size())) continue;
      for (const auto& [first, second] : g_.ordered) {
        if (second == unit && has_before(unit, first)) want(first);
      }
    }
  }

  bool is_kept(const graph::Node& node) const {
    return std::any_of(graph_.effects().begin(), graph_.effects().end(),
                       [&](const graph::NodeRef& kept) { return kept.get() == &node; });
  }
  bool has_before(int node, int other) const {
    const auto& before = g_.nodes[static_cast<size_t>(node)].node->before;
    return std::any_of(before.begin(), before.end(), [&](const graph::NodeRef& b) {
      return b.get() == g_.nodes[static_cast<size_t>(other)].node;
    });
  }

  /// False: some groups came apart, and others may have more to give now.
  bool write_programs() {
    find_live();
    bool whole = true;
    for (size_t k = 0; k < groups_.size(); ++k) {
      programs_[k].reset();
      if (groups_[k].members.empty() || !is_live_[g_.size() + k]) continue;
      FuseGroup& group = groups_[k];
      programs_[k] = program_of(g_, group, is_wanted_);
      if (programs_[k] && (group.product < 0 || write_product(k))) continue;
      if (group.product >= 0 && drop_columns(group)) {  // which the product may not go along with
      } else if (group.product >= 0) {  // without its product it may be a group still
        drop_product(k);
      } else {
        put_nodes(group, -1);
        group.members.clear();
      }
      whole = false;
    }
    return whole;
  }

  /// Leaves the column reductions to themselves. False: there is nothing else.
  bool drop_columns(FuseGroup& group) {
    const auto is_column = [&](int m) {
      return g_.nodes[static_cast<size_t>(m)].kind == FusedKind::collect;
    };
    const auto columns = std::count_if(group.members.begin(), group.members.end(), is_column);
    if (columns == 0 || columns == static_cast<int64_t>(group.members.size())) return false;
    for (const int m : group.members) {
      if (is_column(m)) group_of_[static_cast<size_t>(m)] = -1;
    }
    std::erase_if(group.members, is_column);
    if (!group.reduces_rows) group.row_dims = 0;
    return true;
  }

  bool write_product(size_t k) {
    const GroupProgram& p = *programs_[k];
    if (p.product < 0) return false;
    std::vector<Shape> shapes;
    for (const Tensor& t : p.inputs) shapes.push_back(t.shape());
    const auto input = static_cast<size_t>(p.product);
    if (groups_[k].updates) {
      return compiler_of(k).can_update(product_of(k), p.program, shapes, input);
    }
    products_[k] = compiler_of(k).make_product(product_of(k), p.program, std::move(shapes), input);
    return products_[k] != nullptr;
  }

  /// Of the device on which the group will run.
  const fusion::Compiler& compiler_of(size_t k) const {
    return target_of(*g_.nodes[static_cast<size_t>(groups_[k].last())].node).fusion();
  }

  fusion::Product product_of(size_t k) const {
    const graph::Node& node = *g_.nodes[static_cast<size_t>(groups_[k].product)].node;
    return {node.op, node.attrs, node.inputs, node.outputs[0].shape, node.outputs[0].dtype};
  }

  /// Live units, each after what it needs, else in the order of the program.
  std::vector<int> order() const {
    const size_t units = is_live_.size();
    std::vector<std::vector<int>> after(units);
    std::vector<int> waits(units, 0);
    const auto edge = [&](int from, int to) {
      if (from == to || !is_live_[static_cast<size_t>(from)] ||
          !is_live_[static_cast<size_t>(to)]) {
        return;
      }
      after[static_cast<size_t>(from)].push_back(to);
      ++waits[static_cast<size_t>(to)];
    };
    for (size_t unit = 0; unit < units; ++unit) {
      if (!is_live_[unit]) continue;
      for (const int node : needs(static_cast<int>(unit))) {
        edge(unit_of(node), static_cast<int>(unit));
      }
    }
    for (const auto& [first, second] : g_.ordered) edge(unit_of(first), unit_of(second));
    using Entry = std::pair<int, int>;  // where in the program, unit
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    const auto push = [&](size_t unit) { ready.emplace(place_of(unit), static_cast<int>(unit)); };
    size_t live = 0;
    for (size_t unit = 0; unit < units; ++unit) {
      live += is_live_[unit];
      if (is_live_[unit] && waits[unit] == 0) push(unit);
    }
    std::vector<int> result;
    while (!ready.empty()) {
      const int unit = ready.top().second;
      ready.pop();
      result.push_back(unit);
      for (const int next : after[static_cast<size_t>(unit)]) {
        if (--waits[static_cast<size_t>(next)] == 0) push(static_cast<size_t>(next));
      }
    }
    if (result.size() != live) result.clear();
    return result;
  }

  /// An order of the units. Sweeps that wait for one another, as updates of a variable on both
  /// sides of a reading of it do, are taken apart again: first from the products they go on with.
  std::vector<int> order_or_apart() {
    std::vector<int> result = order();
    if (!result.empty() || sweeps_.empty()) return result;
    drop_products_if([](size_t) { return true; });
    sweep();
    result = order();
    if (!result.empty()) return result;
    sweeps_.clear();
    sweep_of_group_.assign(groups_.size(), -1);
    sweep_of_node_.assign(g_.size(), -1);
    find_live();
    result = order();
    if (result.empty()) fail<InternalError>("fused groups wait for one another");
    return result;
  }

  int place_of(size_t unit) const {
    if (unit < g_.size()) return static_cast<int>(unit);
    if (unit < static_cast<size_t>(first_sweep())) return groups_[unit - g_.size()].last();
    return sweeps_[unit - static_cast<size_t>(first_sweep())].back().assigns.back();
  }

  void add_sweep(Rewriter& now, const std::vector<SweptGroup>& groups) {
    std::vector<Tensor> inputs;
    const size_t first = groups.front().group;
    std::shared_ptr<const graph::Special> sweep;
    if (groups_[first].product >= 0) {
      sweep = product_update_of(g_, *programs_[first], product_of(first), groups.front(), inputs);
    } else {
      sweep = sweep_of(g_, programs_, groups, inputs);
    }
    const graph::Node& like = *g_.nodes[static_cast<size_t>(groups.back().assigns.back())].node;
    now.keep(now.add(std::move(sweep), now.at(inputs), {}, like));
  }

  void add_group(Rewriter& now, size_t k) {
    const GroupProgram& p = *programs_[k];
    const FuseGroup& group = groups_[k];
    const graph::Node& like = *g_.nodes[static_cast<size_t>(group.last())].node;
    std::vector<graph::OutputInfo> infos;
    graph::NodeRef node;
    if (group.product >= 0) {
      std::vector<Tensor> inputs =
          now.at(g_.nodes[static_cast<size_t>(group.product)].node->inputs);
      for (size_t i = 0; i < p.inputs.size(); ++i) {
        if (static_cast<int>(i) != p.product) inputs.push_back(now.at(p.inputs[i]));
      }
      add_infos(p, *products_[k], graph::device_of(like), infos);
      node = now.add(products_[k], std::move(inputs), std::move(infos), like);
    } else {
      std::vector<Shape> shapes;
      for (const Tensor& t : p.inputs) shapes.push_back(t.shape());
      auto special = compiler_of(k).make_group(p.program, std::move(shapes));
      add_infos(p, *special, graph::device_of(like), infos);
      node = now.add(std::move(special), now.at(p.inputs), std::move(infos), like);
    }
    for (size_t o = 0; o < p.outputs.size(); ++o) {
      const FusableNode& member = g_.nodes[static_cast<size_t>(p.outputs[o])];
      const Tensor value = graph::output_of(*node, static_cast<uint32_t>(o));
      if (member.aliases.empty()) now.set(*member.node, 0, value);
      for (const int alias : member.aliases) {
        now.set(*g_.nodes[static_cast<size_t>(alias)].node, 0, value);
      }
    }
  }

  static void add_infos(const GroupProgram& p, const fusion::FusedStep& step, Device device,
                        std::vector<graph::OutputInfo>& infos) {
    for (size_t o = 0; o < p.outputs.size(); ++o) {
      infos.push_back({step.output_dtype(o), step.output_shapes()[o], 0, device});
    }
  }

  const graph::Graph& graph_;
  const size_t most_whole_;
  const FuseGraph g_;
  std::vector<FuseGroup> groups_;
  std::vector<std::optional<GroupProgram>> programs_;
  std::vector<std::shared_ptr<const fusion::FusedStep>> products_;  // by group; null: none
  std::vector<int> group_of_;
  std::vector<std::vector<SweptGroup>> sweeps_;
  std::vector<int> sweep_of_group_, sweep_of_node_;  // -1: none
  std::vector<bool> is_live_;                        // by unit
  std::vector<bool> is_wanted_;                      // by node
};

}  // namespace

bool is_fusion_on() {
  static const bool on = [] {
    const std::string how = settings::text(settings::kFusion);
    if (how != "on" && how != "off" && how != "interpret") {
      fail<InvalidArgumentError>("Environment variable TIDEMARK_FUSION=\"", how,
                                 "\": expected on, interpret or off");
    }
    return how != "off";
  }();
  return on;
}

static std::shared_ptr<graph::Graph> fused(const std::shared_ptr<graph::Graph>& graph,
                                           size_t most_whole) {
  if (!is_fusion_on()) return graph;
  std::shared_ptr<graph::Graph> made = Fuser(*graph, most_whole).run();
  return made ? made : graph;
}

std::shared_ptr<graph::Graph> fuse(const std::shared_ptr<graph::Graph>& graph) {
  // Smaller gradients are still in the cache when the sweep over all of them comes, and small parts
  // of updates take longer than whole ones.
  return fused(graph, static_cast<size_t>(settings::bytes(settings::kWholeGradients).value_or(0)));
}

std::shared_ptr<graph::Graph> fuse_updates_apart(const std::shared_ptr<graph::Graph>& graph) {
  return fused(graph, 0);
}

}  // namespace tidemark::compile
