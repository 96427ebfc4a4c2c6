#include "tidemark/compile/fuse_sweep.h"

#include <algorithm>
#include <map>

namespace tidemark::compile {

namespace {

using Programs = std::vector<std::optional<GroupProgram>>;

/// By variable id: the group that changes it.
using Writers = std::map<uint64_t, size_t>;

/// The nodes that assign the outputs; empty: some of them go elsewhere too.
std::vector<int> assigns_of(const FuseGraph& g, const GroupProgram& p) {
  std::vector<int> assigns;
  for (const int member : p.outputs) {
    int assign = -1;
    if (g.is_output[static_cast<size_t>(member)]) return {};
    for (const int user : g.after[static_cast<size_t>(member)]) {
      if (!g.assigned(user)) continue;
      if (assign >= 0) return {};
      assign = user;
    }
    if (assign < 0) return {};
    assigns.push_back(assign);
  }
  const int segment = g.segment_of(assigns[0]);
  for (const int assign : assigns) {
    if (g.segment_of(assign) != segment) return {};
  }
  return assigns;
}

/// Where the program reads a variable it changes, the new value may be written over the old one.
bool can_be_in_place(const FuseGraph& g, const GroupProgram& p, const std::vector<int>& assigns,
                     const fusion::CompiledFusion& fusion) {
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const Variable* v = g.read(p.inputs[i]);
    for (size_t o = 0; v && o < assigns.size(); ++o) {
      if (*g.assigned(assigns[o]) == *v && !fusion.may_write_into(o, i)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::vector<SweptGroup>> find_sweeps(const FuseGraph& g, const Programs& programs) {
  std::vector<SweptGroup> found;
  Writers writers;
  for (size_t k = 0; k < programs.size(); ++k) {
    if (!programs[k] || !programs[k]->is_swept || programs[k]->program.has_rows()) continue;
    SweptGroup group{k, assigns_of(g, *programs[k])};
    if (group.assigns.empty()) continue;
    const auto fusion = fusion::CompiledFusion::make(programs[k]->program);
    if (!can_be_in_place(g, *programs[k], group.assigns, *fusion)) continue;
    const bool twice = std::any_of(group.assigns.begin(), group.assigns.end(),
                                   [&](int a) { return writers.contains(g.assigned(a)->id()); });
    if (twice) continue;
    for (const int a : group.assigns) writers[g.assigned(a)->id()] = k;
    found.push_back(std::move(group));
  }
  std::vector<std::vector<SweptGroup>> segments;
  for (SweptGroup& group : found) {
    bool reads_others = false;
    for (const Tensor& t : programs[group.group]->inputs) {
      const Variable* v = g.read(t);
      const auto writer = v ? writers.find(v->id()) : writers.end();
      reads_others |= writer != writers.end() && writer->second != group.group;
    }
    if (reads_others) continue;
    const auto segment = static_cast<size_t>(g.segment_of(group.assigns[0]));
    if (segments.size() <= segment) segments.resize(segment + 1);
    segments[segment].push_back(std::move(group));
  }
  return segments;
}

std::shared_ptr<const fusion::Sweep> sweep_of(const FuseGraph& g, const Programs& programs,
                                              const std::vector<SweptGroup>& groups,
                                              std::vector<Tensor>& inputs) {
  std::vector<Variable> variables;
  std::vector<fusion::SweepItem> items;
  std::multimap<size_t, std::shared_ptr<const fusion::CompiledFusion>> known;
  const auto compiled = [&](const fusion::Program& program) {
    const size_t hash = fusion::hash_of(program);
    const auto [first, last] = known.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      if (at->second->program() == program) return at->second;
    }
    return known.emplace(hash, fusion::CompiledFusion::make(program))->second;
  };
  for (const SweptGroup& group : groups) {
    const GroupProgram& p = *programs[group.group];
    fusion::SweepItem item;
    item.fusion = compiled(p.program);
    const size_t first = variables.size();
    for (const int assign : group.assigns) {
      item.outputs.push_back(static_cast<int>(variables.size()));
      variables.push_back(*g.assigned(assign));
    }
    for (const Tensor& t : p.inputs) {
      item.input_shapes.push_back(t.shape());
      const Variable* v = g.read(t);
      const auto own =
          v ? std::find(variables.begin() + static_cast<std::ptrdiff_t>(first), variables.end(), *v)
            : variables.end();
      if (own != variables.end()) {
        item.inputs.push_back(static_cast<int>(own - variables.begin()));
        continue;
      }
      const auto given = std::find_if(inputs.begin(), inputs.end(), [&](const Tensor& known_input) {
        return known_input.impl() == t.impl();
      });
      item.inputs.push_back(~static_cast<int>(given - inputs.begin()));
      if (given == inputs.end()) inputs.push_back(t);
    }
    items.push_back(std::move(item));
  }
  return std::make_shared<const fusion::Sweep>(std::move(variables), std::move(items));
}

}  // namespace tidemark::compile
