#include "tidemark/graph/effects.h"

#include <tidemark/handler.h>

#include <algorithm>

#include "tidemark/graph/graph.h"
#include "tidemark/graph/op_facts.h"
#include "tidemark/graph/variable_updates.h"

namespace tidemark::graph {

bool Effects::changes(const Variable& variable) const {
  return std::find(writes.begin(), writes.end(), variable) != writes.end();
}

Effects effects_of(const Node& node) {
  if (!node.op) return node.special->effects();
  const bool is_stateful = op_is_stateful(*node.op);
  return {.draws = is_stateful, .must_run = is_stateful};
}

std::string_view name_of_update(const OpDef* op) {
  return op ? std::string_view(op_name(*op)) : "assign";
}

const Variable* shown_variable(const Node& node) {
  return node.special ? node.special->shown_variable() : nullptr;
}

const VariableUpdate* update_of(const Node& node) {
  return node.special ? node.special->update() : nullptr;
}

Device device_of(const Variable& variable) {
  const NoHandlers now;
  return variable.operand().device();
}

Device device_of(const Node& node) {
  if (!node.outputs.empty()) return node.outputs[0].device;
  if (const VariableUpdate* update = update_of(node)) return device_of(update->variable);
  const VariableUpdates* updates = node.special ? node.special->variable_updates() : nullptr;
  return updates ? device_of(updates->variables()[0]) : Device();
}

size_t InnerGraph::num_own_inputs() const { return graph->inputs().size() - captured.size(); }

std::vector<int> EffectOrder::all_since_barrier(int step) const {
  std::vector<int> all;
  for (const auto& [id, uses] : variables_) {
    all.push_back(uses.last_update);
    all.insert(all.end(), uses.users.begin(), uses.users.end());
  }
  for (const auto& [token, last] : tokens_) all.push_back(last);
  all.push_back(last_draw_);
  std::erase_if(all, [&](int other) { return other == kNone || other == step; });
  return all;
}

std::vector<int> EffectOrder::add(int step, const Effects& effects) {
  std::vector<int> after;
  const auto wait_for = [&](int other) {
    if (other != kNone && other != step) after.push_back(other);
  };
  if (effects.is_barrier) {
    after = all_since_barrier(step);
    wait_for(last_barrier_);
    variables_.clear();
    tokens_.clear();
    last_draw_ = kNone;
    last_barrier_ = step;
  } else {
    for (const Variable& variable : effects.reads) {
      Uses& uses = variables_[variable.id()];
      wait_for(uses.last_update);
      uses.users.push_back(step);
    }
    for (const Variable& variable : effects.writes) {
      Uses& uses = variables_[variable.id()];
      wait_for(uses.last_update);
      for (const int user : uses.users) wait_for(user);
      uses = {step, {}};
    }
    if (effects.draws) wait_for(std::exchange(last_draw_, step));
    if (effects.token != 0) {
      const auto [last, is_first] = tokens_.try_emplace(effects.token, step);
      if (!is_first) wait_for(std::exchange(last->second, step));
    }
    if (effects.is_ordered()) wait_for(last_barrier_);
  }
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
  return after;
}

int EffectOrder::last_change(uint64_t variable) const {
  const auto known = variables_.find(variable);
  return std::max(last_barrier_, known == variables_.end() ? kNone : known->second.last_update);
}

}  // namespace tidemark::graph
