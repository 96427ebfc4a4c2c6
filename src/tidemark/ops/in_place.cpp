#include "tidemark/ops/in_place.h"

#include "tidemark/ops/windows.h"

namespace tidemark {

namespace {

/// Its kernel reads a window before it writes it, and windows that share no pixel are nobody
/// else's.
bool may_pool_back(const OpCall& call) {
  static const OpDef* const op = &OpRegistry::instance().get("max_pool_grad");
  if (&call.op != op) return false;
  return are_apart(read_windows(call, call.inputs[0].shape(), call.attr("ksize").as_ints()));
}

}  // namespace

bool may_write_into(const OpDef& op, std::span<const Tensor> inputs, std::span<const Attr> attrs,
                    size_t input) {
  constexpr size_t kFlags = 32;  // a definition says so for this many inputs
  if (input >= kFlags) return false;
  if (op.may_write_into(static_cast<int>(input))) return true;
  return input == 0 && may_pool_back({op, inputs, attrs});
}

}  // namespace tidemark
