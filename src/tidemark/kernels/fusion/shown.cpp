#include "tidemark/kernels/fusion/shown.h"

#include <algorithm>

namespace tidemark::fusion {

namespace {

std::string name_of_instruction(const Instruction& i) {
  constexpr const char* kReductions[] = {"sum", "mean", "max", "min"};
  switch (i.code) {
    case Code::map:
      return i.op->name();
    case Code::cast:
      return message("cast to ", name_of(i.dtype));
    case Code::select:
      return "select";
    case Code::random:
      return "random";
    case Code::reduce:
    case Code::collect:
      return kReductions[static_cast<int>(i.reduction)];
    case Code::load:
    case Code::constant:
      break;
  }
  return {};
}

}  // namespace

graph::InnerProgram shown(const FusedProgram& program, const OpDef* product, size_t product_input) {
  graph::InnerProgram out;
  std::vector<int> member(program.code.size(), -1);
  for (size_t v = 0; v < program.code.size(); ++v) {
    const Instruction& i = program.code[v];
    const bool is_product = product && i.code == Code::load && i.input == product_input;
    std::string op = is_product ? product->name() : name_of_instruction(i);
    if (op.empty()) continue;
    graph::InnerProgram::Member made{std::move(op), {}, false};
    for (int a = 0; a < i.arity; ++a) {
      const int arg = member[i.args[static_cast<size_t>(a)]];
      if (arg >= 0) made.args.push_back(arg);
    }
    made.is_result = std::any_of(program.outputs.begin(), program.outputs.end(),
                                 [&](const Output& o) { return o.value == v; });
    member[v] = static_cast<int>(out.members.size());
    out.members.push_back(std::move(made));
  }
  return out;
}

}  // namespace tidemark::fusion
