// Elementwise ops of libraries, given by what they do to one element.

#include <deque>
#include <mutex>

#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"

namespace tidemark::detail {

namespace {

/// What loops of a library can do nothing with.
void check_loops(const OpDef& op, std::span<const ElementLoop> loops) {
  if (!op.is_elementwise()) fail("op '", op.name(), "' is not elementwise: define its kernel");
  if (kernels_of(op)) fail("op '", op.name(), "' has kernels already");
  const std::vector<OutputSpec>& outputs = op.outputs();
  if (outputs.size() != 1 || outputs[0].type.kind != OutputType::Kind::like_input ||
      !op.has_one_type_var()) {
    fail("op '", op.name(), "' has other dtypes than that of its elements: define its kernel");
  }
  if (op.attrs().size() > std::size(cpu::LoopParams().values)) {
    fail("op '", op.name(), "' has more than two attributes: define its kernel");
  }
  for (const int attr : op.attrs()) {
    const AttrKind kind = op.params()[static_cast<size_t>(attr)].attr_kind;
    if (kind != AttrKind::real && kind != AttrKind::integer && kind != AttrKind::boolean) {
      fail("op '", op.name(), "' has an attribute that is no number: define its kernel");
    }
  }
  for (const ElementLoop& loop : loops) {
    if (op.has_input_list() || static_cast<size_t>(loop.arity) != op.inputs().size()) {
      fail("op '", op.name(), "' takes ", op.inputs().size(), " tensors, its loop ", loop.arity);
    }
  }
}

}  // namespace

void register_element_loops(std::string_view op, std::span<const ElementLoop> loops) {
  static std::mutex mutex;
  // Libraries stay as long as the process.
  static auto& kept = *new std::deque<cpu::ElementwiseLoop>;
  std::lock_guard lock(mutex);
  const OpDef& definition = OpRegistry::instance().get(op);
  check_loops(definition, loops);
  std::vector<const cpu::ElementwiseLoop*> made;
  for (const ElementLoop& given : loops) {
    cpu::ElementwiseLoop& loop = kept.emplace_back();
    loop.op = definition.name().c_str();
    loop.run = given.run;
    loop.in = loop.out = given.dtype;
    loop.arity = static_cast<uint8_t>(given.arity);
    // Whoever compiled it may have made other code for the last elements of a run.
    loop.whole_vectors = true;
    made.push_back(&loop);
  }
  cpu::add_loops(definition.name(), made);
}

}  // namespace tidemark::detail
