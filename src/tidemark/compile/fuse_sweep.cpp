#include "tidemark/compile/fuse_sweep.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "tidemark/compile/target.h"

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

/// Of the device on which the group will run.
const fusion::Compiler& compiler_of(const FuseGraph& g, const SweptGroup& group) {
  return target_of(*g.nodes[static_cast<size_t>(group.assigns.back())].node).fusion();
}

/// Where the program reads a variable it changes, the new value may be written over the old one.
bool can_be_in_place(const FuseGraph& g, const GroupProgram& p, const std::vector<int>& assigns,
                     const fusion::CompiledProgram& compiled) {
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const Variable* v = g.read(p.inputs[i]);
    for (size_t o = 0; v && o < assigns.size(); ++o) {
      if (*g.assigned(assigns[o]) == *v && !compiled.may_write_into(o, i)) return false;
    }
  }
  return true;
}

/// What the product reads is not written over part by part.
bool reads_only_others(const FuseGraph& g, const graph::Node& product,
                       const std::vector<int>& assigns) {
  return std::all_of(product.inputs.begin(), product.inputs.end(), [&](const Tensor& t) {
    const int n = g.number_of(t);
    if (n < 0 || !g.lies_in_variable(n)) return true;
    const Variable* v = g.read(t);
    return v && std::none_of(assigns.begin(), assigns.end(),
                             [&](int a) { return *g.assigned(a) == *v; });
  });
}

/// The group's program over variables and over `inputs` of the old graph; new ones are added.
fusion::SweepItem item_of(const FuseGraph& g, const GroupProgram& p, const SweptGroup& group,
                          std::shared_ptr<const fusion::CompiledProgram> compiled,
                          std::vector<Variable>& variables, std::vector<Tensor>& inputs) {
  fusion::SweepItem item;
  item.compiled = std::move(compiled);
  const auto first = static_cast<std::ptrdiff_t>(variables.size());
  for (const int assign : group.assigns) {
    item.outputs.push_back(static_cast<int>(variables.size()));
    variables.push_back(*g.assigned(assign));
  }
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const Tensor& t = p.inputs[i];
    item.input_shapes.push_back(t.shape());
    const Variable* v = g.read(t);
    const auto own =
        v ? std::find(variables.begin() + first, variables.end(), *v) : variables.end();
    if (own != variables.end()) {
      item.inputs.push_back(static_cast<int>(own - variables.begin()));
      continue;
    }
    const auto given = std::find_if(inputs.begin(), inputs.end(), [&](const Tensor& known_input) {
      return known_input.impl() == t.impl();
    });
    item.inputs.push_back(~static_cast<int>(given - inputs.begin()));
    if (given == inputs.end() && static_cast<int>(i) != p.product) inputs.push_back(t);
  }
  return item;
}

/// By node: whether this one needs it.
std::vector<bool> ancestors_of(const FuseGraph& g, int node) {
  std::vector<bool> found(g.size(), false);
  std::vector<int> todo = {node};
  const auto visit = [&](int n) {
    if (n < 0 || found[static_cast<size_t>(n)]) return;
    found[static_cast<size_t>(n)] = true;
    todo.push_back(n);
  };
  while (!todo.empty()) {
    const graph::Node& now = *g.nodes[static_cast<size_t>(todo.back())].node;
    todo.pop_back();
    for (const Tensor& t : now.inputs) visit(g.number_of(t));
  }
  return found;
}

/// Bytes that nobody but the product and what comes before it reads.
size_t bytes_that_die(const FuseGraph& g, const Tensor& t, int reader,
                      const std::vector<bool>& is_before) {
  const int n = g.number_of(t);
  if (n < 0 || g.is_output[static_cast<size_t>(n)] || g.lies_in_variable(n)) return 0;
  const graph::Node& node = *g.nodes[static_cast<size_t>(n)].node;
  if (graph::is_placeholder(node) || graph::is_constant(node)) return 0;
  const auto& users = g.after[static_cast<size_t>(n)];
  const bool dies = std::all_of(users.begin(), users.end(), [&](int user) {
    return user == reader || is_before[static_cast<size_t>(user)];
  });
  if (!dies) return 0;
  return g.is_reshaping(n) ? bytes_that_die(g, node.inputs[0], n, is_before) : t.nbytes();
}

}  // namespace

bool is_worth_waiting(const FuseGraph& g, const FuseGroup& group, size_t most_whole) {
  const graph::Node& product = *g.nodes[static_cast<size_t>(group.product)].node;
  const graph::OutputInfo& made = product.outputs[0];
  const size_t bytes = static_cast<size_t>(made.shape.num_elements()) * size_of(made.dtype);
  if (bytes <= most_whole) return false;
  const std::vector<bool> is_before = ancestors_of(g, group.product);
  const auto is_ours = [&](int n) {
    return n == group.product ||
           std::find(group.members.begin(), group.members.end(), n) != group.members.end();
  };
  const bool waits = std::any_of(g.ordered.begin(), g.ordered.end(), [&](const auto& pair) {
    const auto [reader, change] = pair;
    if (!g.assigned(change) || is_before[static_cast<size_t>(reader)] || is_ours(reader)) {
      return false;
    }
    graph::Node& node = *g.nodes[static_cast<size_t>(reader)].node;
    if (!node.outputs.empty() && g.read(graph::output_of(node, 0))) return false;
    const int value = g.number_of(g.nodes[static_cast<size_t>(change)].node->inputs[0]);
    return value >= 0 && is_ours(value);
  });
  if (!waits) return true;
  size_t dying = 0;
  for (size_t i = 0; i < product.inputs.size(); ++i) {
    const bool is_again = i > 0 && product.inputs[i].impl() == product.inputs[0].impl();
    if (!is_again) dying += bytes_that_die(g, product.inputs[i], group.product, is_before);
  }
  return bytes >= dying;
}

std::vector<std::vector<SweptGroup>> find_sweeps(const FuseGraph& g,
                                                 const std::vector<FuseGroup>& groups,
                                                 const Programs& programs, size_t most_whole) {
  std::vector<SweptGroup> found;
  Writers writers;
  for (size_t k = 0; k < programs.size(); ++k) {
    if (!programs[k] || !programs[k]->is_swept || programs[k]->program.has_rows()) continue;
    SweptGroup group{k, assigns_of(g, *programs[k])};
    if (group.assigns.empty()) continue;
    const auto compiled = compiler_of(g, group).compile(programs[k]->program);
    if (!can_be_in_place(g, *programs[k], group.assigns, *compiled)) continue;
    const int product = groups[k].product;
    if (product >= 0 &&
        !reads_only_others(g, *g.nodes[static_cast<size_t>(product)].node, group.assigns)) {
      continue;
    }
    const bool twice = std::any_of(group.assigns.begin(), group.assigns.end(),
                                   [&](int a) { return writers.contains(g.assigned(a)->id()); });
    if (twice) continue;
    for (const int a : group.assigns) writers[g.assigned(a)->id()] = k;
    found.push_back(std::move(group));
  }
  std::map<std::pair<int, int>, std::vector<SweptGroup>> together;  // by segment and device
  std::vector<std::vector<SweptGroup>> alone;
  for (SweptGroup& group : found) {
    bool reads_others = false;
    for (const Tensor& t : programs[group.group]->inputs) {
      const Variable* v = g.read(t);
      const auto writer = v ? writers.find(v->id()) : writers.end();
      reads_others |= writer != writers.end() && writer->second != group.group;
    }
    if (reads_others) continue;
    const int64_t elements = groups[group.group].space.num_elements();
    const size_t wide = size_of(programs[group.group]->program.output_dtype(0));
    const bool is_step = elements >= compiler_of(g, group).large_update() &&
                         static_cast<size_t>(elements) * wide > most_whole;
    if (groups[group.group].product >= 0 || is_step) {
      alone.push_back({std::move(group)});
      continue;
    }
    const int assign = group.assigns[0];
    const Device device = graph::device_of(*g.nodes[static_cast<size_t>(assign)].node);
    together[{g.segment_of(assign), device.number()}].push_back(std::move(group));
  }
  std::vector<std::vector<SweptGroup>> sweeps;
  for (auto& [where, groups_there] : together) sweeps.push_back(std::move(groups_there));
  std::move(alone.begin(), alone.end(), std::back_inserter(sweeps));
  return sweeps;
}

std::shared_ptr<const graph::VariableUpdates> sweep_of(const FuseGraph& g, const Programs& programs,
                                                       const std::vector<SweptGroup>& groups,
                                                       std::vector<Tensor>& inputs) {
  const fusion::Compiler& compiler = compiler_of(g, groups.front());
  std::vector<Variable> variables;
  std::vector<fusion::SweepItem> items;
  std::multimap<size_t, std::shared_ptr<const fusion::CompiledProgram>> known;
  const auto compiled = [&](const fusion::FusedProgram& program) {
    const size_t hash = fusion::hash_of(program);
    const auto [first, last] = known.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      if (at->second->program() == program) return at->second;
    }
    return known.emplace(hash, compiler.compile(program))->second;
  };
  for (const SweptGroup& group : groups) {
    const GroupProgram& p = *programs[group.group];
    items.push_back(item_of(g, p, group, compiled(p.program), variables, inputs));
  }
  return std::make_shared<const graph::VariableUpdates>(std::move(variables),
                                                        compiler.make_sweep(std::move(items)));
}

std::shared_ptr<const graph::VariableUpdates> product_update_of(const FuseGraph& g,
                                                                const GroupProgram& p,
                                                                const fusion::Product& product,
                                                                const SweptGroup& group,
                                                                std::vector<Tensor>& inputs) {
  const fusion::Compiler& compiler = compiler_of(g, group);
  std::vector<Variable> variables;
  inputs = product.inputs;
  fusion::SweepItem item = item_of(g, p, group, compiler.compile(p.program), variables, inputs);
  return std::make_shared<const graph::VariableUpdates>(
      std::move(variables),
      compiler.make_product_update(product, std::move(item), static_cast<size_t>(p.product)));
}

}  // namespace tidemark::compile
