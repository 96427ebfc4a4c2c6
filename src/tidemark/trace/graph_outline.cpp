#include "tidemark/trace/graph_outline.h"

#include <algorithm>
#include <unordered_map>

#include "tidemark/exec/versions.h"
#include "tidemark/graph/specials.h"
#include "tidemark/kernels/fusion/group.h"
#include "tidemark/kernels/fusion/product_update.h"
#include "tidemark/trace/python_steps.h"
#include "tidemark/trace/specials.h"

namespace tidemark::trace {

namespace {

constexpr int64_t kShownElements = 4;

std::string text_of(const Tensor& t) {
  if (t.num_elements() <= kShownElements && t.dtype() != DType::string) return t.to_string();
  return message(name_of(t.dtype()), " ", t.shape());
}

std::string name_of_instruction(const fusion::Instruction& i) {
  constexpr const char* kReductions[] = {"sum", "mean", "max", "min"};
  switch (i.code) {
    case fusion::Code::map:
      return i.op->name();
    case fusion::Code::cast:
      return message("cast to ", name_of(i.dtype));
    case fusion::Code::select:
      return "select";
    case fusion::Code::random:
      return "random";
    case fusion::Code::reduce:
    case fusion::Code::collect:
      return kReductions[static_cast<int>(i.reduction)];
    case fusion::Code::load:
    case fusion::Code::constant:
      break;
  }
  return {};
}

/// `product`, if any, is what the program goes on with: its input of that number.
OutlineProgram program_of(const fusion::Program& program, const OpDef* product = nullptr,
                          size_t product_input = 0) {
  OutlineProgram out;
  std::vector<int> member(program.code.size(), -1);
  for (size_t v = 0; v < program.code.size(); ++v) {
    const fusion::Instruction& i = program.code[v];
    const bool is_product = product && i.code == fusion::Code::load && i.input == product_input;
    std::string op = is_product ? product->name() : name_of_instruction(i);
    if (op.empty()) continue;
    OutlineMember made{std::move(op), {}, false};
    for (int a = 0; a < i.arity; ++a) {
      const int arg = member[i.args[static_cast<size_t>(a)]];
      if (arg >= 0) made.args.push_back(arg);
    }
    made.is_result = std::any_of(program.outputs.begin(), program.outputs.end(),
                                 [&](const fusion::Output& o) { return o.value == v; });
    member[v] = static_cast<int>(out.members.size());
    out.members.push_back(std::move(made));
  }
  return out;
}

/// Equal programs once, with how many there are.
std::vector<OutlineProgram> programs_of(const fusion::Sweep& sweep) {
  std::vector<std::pair<const fusion::Program*, int>> counted;
  for (const fusion::SweepItem& item : sweep.items()) {
    const fusion::Program& program = item.fusion->program();
    const auto known = std::find_if(counted.begin(), counted.end(),
                                    [&](const auto& c) { return *c.first == program; });
    if (known != counted.end()) {
      ++known->second;
    } else {
      counted.emplace_back(&program, 1);
    }
  }
  std::vector<OutlineProgram> out;
  for (const auto& [program, times] : counted) {
    out.push_back(program_of(*program));
    out.back().times = times;
  }
  return out;
}

class Outliner {
 public:
  explicit Outliner(const graph::Graph& graph) : nodes_(graph.nodes()) {
    for (const graph::Node* node : nodes_) {
      number_.emplace(node, static_cast<int>(number_.size()));
    }
    for (const graph::Node* node : nodes_) out_.nodes.push_back(node_of(*node));
    for (const Tensor& t : graph.outputs()) out_.results.push_back(input_of(t));
  }

  Outline finish() && { return std::move(out_); }

 private:
  OutlineInput input_of(const Tensor& t) const {
    if (!t.is_symbolic()) return {-1, 0, text_of(t)};
    const auto known = number_.find(&graph::node_of(t));
    if (known == number_.end()) return {-1, 0, "?"};
    return {known->second, static_cast<int>(graph::symbolic(t).index), {}};
  }

  OutlineNode node_of(const graph::Node& node) const {
    OutlineNode out;
    out.kind = graph::kind_of(node);
    for (const graph::OutputInfo& o : node.outputs) {
      out.outputs.emplace_back(name_of(o.dtype), o.shape.to_string());
    }
    for (const Tensor& t : node.inputs) out.inputs.push_back(input_of(t));
    for (const graph::NodeRef& b : node.before) {
      if (const auto known = number_.find(b.get()); known != number_.end()) {
        out.before.push_back(known->second);
      }
    }
    for (const Attr& attr : node.attrs) {
      if (!attr.is_none()) out.attributes += message(out.attributes.empty() ? "" : ", ", attr);
    }
    if (node.site) out.line = memory::describe(*node.site);
    if (node.special) look_into(*node.special, out);
    return out;
  }

  static void look_into(const graph::Special& special, OutlineNode& out) {
    out.has_effect = special.has_effect();
    const auto add = [&](std::string role, const Body& body) {
      out.bodies.push_back({std::move(role), outline_of(*body.graph)});
    };
    if (const auto* group = dynamic_cast<const fusion::FusedGroup*>(&special)) {
      out.programs.push_back(program_of(group->fusion().program()));
    } else if (const auto* product = dynamic_cast<const fusion::FusedProduct*>(&special)) {
      out.programs.push_back(
          program_of(product->fusion().program(), &product->op(), product->product_input()));
    } else if (const auto* update = dynamic_cast<const fusion::ProductUpdate*>(&special)) {
      out.detail = message("into ", update->variables().size(), " variables");
      out.programs.push_back(
          program_of(update->fusion().program(), &update->op(), update->product_input()));
    } else if (const auto* sweep = dynamic_cast<const fusion::Sweep*>(&special)) {
      out.detail = message("over ", sweep->variables().size(), " variables");
      out.programs = programs_of(*sweep);
    } else if (const auto* read = dynamic_cast<const graph::ReadVariable*>(&special)) {
      out.detail = read->variable().name();
    } else if (const auto* update = dynamic_cast<const graph::UpdateVariable*>(&special)) {
      out.detail = message(update->variable().name(), " by ", update->op());
    } else if (const auto* step = dynamic_cast<const PythonStep*>(&special)) {
      out.detail = step->stands_for();
    } else if (const auto* branch = dynamic_cast<const Branch*>(&special)) {
      const bool is_choice = branch->bodies().size() == 2;
      for (size_t i = 0; i < branch->bodies().size(); ++i) {
        add(is_choice ? (i ? "true" : "false") : message("branch ", i), branch->bodies()[i]);
      }
    } else if (const auto* loop = dynamic_cast<const Loop*>(&special)) {
      add("condition", loop->condition());
      add("body", loop->body());
    }
  }

  const std::vector<graph::Node*> nodes_;
  std::unordered_map<const graph::Node*, int> number_;
  Outline out_;
};

}  // namespace

Outline outline_of(const graph::Graph& graph) { return Outliner(graph).finish(); }

Outline compiled_outline(const exec::Program& program, std::span<const Tensor> inputs,
                         const std::string& name) {
  for (const Tensor& t : inputs) {
    if (!t.shape().is_fully_known()) {
      fail("[graph] ", name, ": what runs is known for known sizes only; an argument has shape ",
           t.shape());
    }
  }
  const auto graph = exec::specialise(program, inputs);
  if (!graph) {
    fail<FailedPreconditionError>(
        "[graph] ", name,
        " asks for gradients across loops or branches, which are worked out while it runs: such a "
        "function is not compiled. compiled=False shows the graph as it was traced");
  }
  return outline_of(*graph);
}

}  // namespace tidemark::trace
