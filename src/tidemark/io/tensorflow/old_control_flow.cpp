#include "tidemark/io/tensorflow/old_control_flow.h"

#include <tidemark/call.h>
#include <tidemark/control_flow.h>

#include <algorithm>
#include <set>

#include "tidemark/io/tensorflow/importer.h"
#include "tidemark/io/tensorflow/staged.h"

namespace tidemark::io::tensorflow {

namespace {

constexpr int kDeepestCondition = 64;

/// Ops of variables of the first kind have names of their own.
bool is_op(const NodeMessage& node, std::string_view op) {
  return node.op == op || (node.op.starts_with("Ref") && node.op.substr(3) == op);
}
const NodeMessage& at(const NodeList& list, int node) {
  return list.nodes[static_cast<size_t>(node)];
}
const std::vector<Edge>& inputs_of(const NodeList& list, int node) {
  return list.inputs[static_cast<size_t>(node)];
}
[[noreturn]] void fail_strange(const NodeMessage& node) {
  fail<UnimplementedError>("node '", node.name, "' (", node.op,
                           ") is control flow that tf.cond and tf.while_loop do not make");
}
void check_inputs(const NodeList& list, int node, size_t count) {
  if (inputs_of(list, node).size() != count) fail_strange(at(list, node));
  for (const Edge& edge : inputs_of(list, node)) {
    if (edge.node < 0) fail_strange(at(list, node));
  }
}

/// The node that decides where a Switch goes: Switches of one condition have it by several names.
int pivot_of(const NodeList& list, int node) {
  int pivot = inputs_of(list, node)[1].node;
  while (at(list, pivot).op == "Identity" && inputs_of(list, pivot).size() == 1 &&
         inputs_of(list, pivot)[0].node >= 0 && inputs_of(list, pivot)[0].node != pivot) {
    pivot = inputs_of(list, pivot)[0].node;
  }
  return pivot;
}

/// Nodes in an order in which each comes after its inputs; rounds of loops are left out.
std::vector<int> order_of(const NodeList& list) {
  const auto count = static_cast<int>(list.nodes.size());
  std::vector<int> waiting(list.nodes.size()), ready, out;
  std::vector<std::vector<int>> users(list.nodes.size());
  for (int i = 0; i < count; ++i) {
    const auto add = [&](int from) {
      if (from < 0 || is_op(at(list, from), "NextIteration")) return;
      ++waiting[static_cast<size_t>(i)];
      users[static_cast<size_t>(from)].push_back(i);
    };
    for (const Edge& edge : inputs_of(list, i)) add(edge.node);
    for (int from : list.after[static_cast<size_t>(i)]) add(from);
    if (waiting[static_cast<size_t>(i)] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    out.push_back(ready.back());
    ready.pop_back();
    for (int user : users[static_cast<size_t>(out.back())]) {
      if (--waiting[static_cast<size_t>(user)] == 0) ready.push_back(user);
    }
  }
  if (out.size() != list.nodes.size()) fail_malformed("nodes depend on themselves");
  return out;
}

}  // namespace

int OldControlFlow::under(int path, int pivot, bool side) {
  if (holds(path, pivot, side)) return path;
  const int depth = path < 0 ? 1 : conditions_[static_cast<size_t>(path)].depth + 1;
  if (depth > kDeepestCondition) fail_malformed("conditions are nested too deeply");
  conditions_.push_back({path, pivot, side, depth});
  return static_cast<int>(conditions_.size()) - 1;
}

bool OldControlFlow::holds(int path, int pivot, bool side) const {
  for (; path >= 0; path = conditions_[static_cast<size_t>(path)].before) {
    const Condition& condition = conditions_[static_cast<size_t>(path)];
    if (condition.pivot == pivot && condition.side == side) return true;
  }
  return false;
}

int OldControlFlow::joined(int a, int b) {
  if (a == b || b < 0) return a;
  if (a < 0) return b;
  std::vector<int> rest;
  for (int at = b; at >= 0; at = conditions_[static_cast<size_t>(at)].before) rest.push_back(at);
  for (auto at = rest.rbegin(); at != rest.rend(); ++at) {
    const Condition one = conditions_[static_cast<size_t>(*at)];
    a = under(a, one.pivot, one.side);
  }
  return a;
}

int OldControlFlow::path_of_edge(const NodeList& list, int node, int output) {
  const int path = paths_[static_cast<size_t>(node)];
  if (!is_op(at(list, node), "Switch") || loop_of_.contains(node)) return path;
  return under(path, pivot_of(list, node), output == 1);
}

void OldControlFlow::find_loops(const NodeList& list) {
  const auto count = static_cast<int>(list.nodes.size());
  std::map<int, std::pair<std::string_view, size_t>> variable_of;  // Merge, Switch → variable
  for (int i = 0; i < count; ++i) {
    if (!is_op(at(list, i), "Enter")) continue;
    check_inputs(list, i, 1);
    const std::string_view* name = at(list, i).find("frame_name");
    if (!name) fail_strange(at(list, i));
    const AttrValue frame = read_attr_value(*name);
    if (frame.texts.size() != 1) fail_strange(at(list, i));
    loop_of_[i] = frame.texts[0];
    loops_[frame.texts[0]];
  }
  for (int i = 0; i < count; ++i) {
    if (!is_op(at(list, i), "Merge")) continue;
    check_inputs(list, i, 2);
    const int enter = inputs_of(list, i)[0].node, next = inputs_of(list, i)[1].node;
    if (!is_op(at(list, next), "NextIteration")) continue;
    if (!loop_of_.contains(enter)) fail_strange(at(list, i));
    check_inputs(list, next, 1);
    Loop& loop = loops_[loop_of_[enter]];
    variable_of[i] = {loop_of_[enter], loop.variables.size()};
    loop_of_[i] = loop_of_[next] = loop_of_[enter];
    loop.variables.push_back({.enter = enter, .merge = i, .next = next});
  }
  for (int i = 0; i < count; ++i) {
    if (!is_op(at(list, i), "Switch")) continue;
    check_inputs(list, i, 2);
    const int test = inputs_of(list, i)[1].node;
    const auto found = variable_of.find(inputs_of(list, i)[0].node);
    if (at(list, test).op != "LoopCond") continue;
    if (found == variable_of.end()) fail_strange(at(list, i));
    check_inputs(list, test, 1);
    Loop& loop = loops_[found->second.first];
    loop.variables[found->second.second].after_test = i;
    loop.test = test;
    loop_of_[i] = found->second.first;
    variable_of[i] = found->second;
  }
  for (int i = 0; i < count; ++i) {
    if (!is_op(at(list, i), "Exit")) continue;
    check_inputs(list, i, 1);
    const auto found = variable_of.find(inputs_of(list, i)[0].node);
    if (found == variable_of.end()) fail_strange(at(list, i));
    loops_[found->second.first].variables[found->second.second].exit = i;
    loop_of_[i] = found->second.first;
  }
  for (const auto& [enter, frame] : std::map(loop_of_)) {
    if (!is_op(at(list, enter), "Enter")) continue;
    Loop& loop = loops_[frame];
    const auto is_its = [&, one = enter](const LoopVariable& v) { return v.enter == one; };
    if (std::none_of(loop.variables.begin(), loop.variables.end(), is_its)) {
      loop.constants.push_back(enter);
    }
  }
}

void OldControlFlow::visit(const NodeList& list, int node) {
  int path = -1;
  const bool is_merge = is_op(at(list, node), "Merge") && !loop_of_.contains(node);
  if (is_merge) {
    int sides[2] = {-1, -1};
    for (int i = 0; i < 2; ++i) {
      const Edge& edge = inputs_of(list, node)[static_cast<size_t>(i)];
      sides[i] = path_of_edge(list, edge.node, edge.output);
      if (sides[i] < 0) fail_strange(at(list, node));
    }
    const Condition first = conditions_[static_cast<size_t>(sides[0])];
    const Condition second = conditions_[static_cast<size_t>(sides[1])];
    if (first.pivot != second.pivot || first.side == second.side) fail_strange(at(list, node));
    Branch& branch = branches_[node];
    branch.pivot = first.pivot;
    branch.inputs[first.side ? 1 : 0] = 0;
    branch.inputs[second.side ? 1 : 0] = 1;
    path = joined(first.before, second.before);
  } else {
    for (const Edge& edge : inputs_of(list, node)) {
      if (edge.node < 0 || is_op(at(list, edge.node), "NextIteration")) continue;
      path = joined(path, path_of_edge(list, edge.node, edge.output));
    }
  }
  for (int from : list.after[static_cast<size_t>(node)]) {
    path = joined(path, paths_[static_cast<size_t>(from)]);
  }
  paths_[static_cast<size_t>(node)] = path;
}

void OldControlFlow::find(const NodeList& list) {
  const auto is_old = [](const NodeMessage& node) {
    return is_op(node, "Switch") || is_op(node, "Merge") || is_op(node, "Enter");
  };
  if (std::none_of(list.nodes.begin(), list.nodes.end(), is_old)) return;
  find_loops(list);
  const std::vector<int> order = order_of(list);  // there are no cycles but those of loops
  paths_.assign(list.nodes.size(), -1);
  for (int node : order) visit(list, node);
}

void OldControlFlow::find_outside(const NodeList& list, int from, int pivot, bool side,
                                  std::vector<int>& outside) const {
  std::vector<int> open{from};
  std::set<int> seen{from};
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    const bool is_switch = is_op(at(list, node), "Switch") && !loop_of_.contains(node) &&
                           pivot_of(list, node) == pivot;
    if (!is_switch && !holds(paths_[static_cast<size_t>(node)], pivot, side)) {
      outside.push_back(node);
      continue;
    }
    const auto add = [&](int next) {
      if (next >= 0 && seen.insert(next).second) open.push_back(next);
    };
    if (const auto special = needs(list, node)) {
      for (int next : *special) add(next);
      continue;
    }
    for (const Edge& edge : inputs_of(list, node)) add(edge.node);
    for (int next : list.after[static_cast<size_t>(node)]) add(next);
  }
}

std::optional<std::vector<int>> OldControlFlow::needs(const NodeList& list, int node) const {
  if (!is_there()) return {};
  if (const auto branch = branches_.find(node); branch != branches_.end()) {
    std::vector<int> out{branch->second.pivot};
    for (int side = 0; side < 2; ++side) {
      const auto input = static_cast<size_t>(branch->second.inputs[side]);
      find_outside(list, inputs_of(list, node)[input].node, branch->second.pivot, side == 1, out);
    }
    return out;
  }
  if (!is_op(at(list, node), "Exit")) return {};
  std::vector<int> out;
  const Loop& loop = loops_.at(loop_of_.at(node));
  for (const LoopVariable& v : loop.variables) out.push_back(inputs_of(list, v.enter)[0].node);
  for (int enter : loop.constants) out.push_back(inputs_of(list, enter)[0].node);
  return out;
}

bool OldControlFlow::make(Importer& importer, const NodeList& list, int node, Scope& scope) const {
  if (!is_there()) return false;
  if (branches_.contains(node)) {
    run_branch(importer, list, node, scope);
    return true;
  }
  if (is_op(at(list, node), "Exit")) {
    run_loop(importer, list, loops_.at(loop_of_.at(node)), scope);
    return true;
  }
  if (is_op(at(list, node), "Switch") && !scope.is_chosen_by(pivot_of(list, node))) {
    fail_strange(at(list, node));  // a value that may be dead, and nothing says what then
  }
  return false;
}

void OldControlFlow::run_branch(Importer& importer, const NodeList& list, int merge,
                                Scope& scope) const {
  const Branch& branch = branches_.at(merge);
  const Edge pivot{branch.pivot, 0};
  const Values* chosen = scope.find(pivot.node);
  if (!chosen || chosen->empty() || !(*chosen)[0].tensor) fail_strange(at(list, merge));
  const Tensor condition = (*chosen)[0].tensor;
  std::vector<StagedFunction> sides;
  for (int side = 0; side < 2; ++side) {
    sides.push_back([&, side] {
      Scope inside;
      inside.around = &scope;
      inside.pivot = branch.pivot;
      const Edge& edge = inputs_of(list, merge)[static_cast<size_t>(branch.inputs[side])];
      importer.evaluate(list, std::vector{edge.node}, inside);
      const Values* made = inside.find(edge.node);
      if (static_cast<size_t>(edge.output) >= made->size()) fail_strange(at(list, merge));
      return Values{(*made)[static_cast<size_t>(edge.output)],
                    Value(Tensor(static_cast<int32_t>(branch.inputs[side])))};
    });
  }
  scope.made[merge] = staged_switch(condition, sides);
}

void OldControlFlow::run_loop(Importer& importer, const NodeList& list, const Loop& loop,
                              Scope& scope) const {
  const auto entering = [&](int enter) -> Value {
    const Edge& edge = inputs_of(list, enter)[0];
    const Values* made = scope.find(edge.node);
    if (!made || static_cast<size_t>(edge.output) >= made->size()) fail_strange(at(list, enter));
    return (*made)[static_cast<size_t>(edge.output)];
  };
  if (loop.test < 0) fail_malformed("a loop without a condition");
  Values first;
  std::map<int, Value> fixed;
  for (const LoopVariable& v : loop.variables) first.push_back(entering(v.enter));
  for (int enter : loop.constants) fixed.emplace(enter, entering(enter));
  const auto round = [&](const Values& given, Scope& inside) {
    for (const auto& [enter, value] : fixed) inside.made[enter] = {value};
    for (size_t i = 0; i < loop.variables.size(); ++i) {
      const LoopVariable& v = loop.variables[i];
      inside.made[v.merge] = {given[i], Value(Tensor(int32_t{0}))};
      if (v.after_test >= 0) inside.made[v.after_test] = {given[i], given[i]};
    }
  };
  const auto value_at = [&](const Edge& edge, const Scope& inside) {
    const Values* made = inside.find(edge.node);
    if (static_cast<size_t>(edge.output) >= made->size()) fail_malformed("a loop's value");
    return (*made)[static_cast<size_t>(edge.output)];
  };
  const auto condition = [&](const Values& given) {
    Scope inside;
    round(given, inside);
    const Edge edge = inputs_of(list, loop.test)[0];
    importer.evaluate(list, std::vector{edge.node}, inside);
    return value_at(edge, inside);
  };
  const auto body = [&](const Values& given) {
    Scope inside;
    round(given, inside);
    Values out;
    for (const LoopVariable& v : loop.variables) {
      const Edge edge = inputs_of(list, v.next)[0];
      importer.evaluate(list, std::vector{edge.node}, inside);
      out.push_back(value_at(edge, inside));
    }
    return out;
  };
  const Values last = staged_loop(condition, body, first, {});
  for (size_t i = 0; i < loop.variables.size(); ++i) {
    if (loop.variables[i].exit >= 0) scope.made[loop.variables[i].exit] = {last[i]};
  }
}

}  // namespace tidemark::io::tensorflow
