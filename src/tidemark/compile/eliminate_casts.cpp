// Casts that change nothing are left out, and casts of casts that lost nothing become one.

#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/compile/transposes.h"

namespace tidemark::compile {

namespace {

/// Bits of a number without its sign, as far as all integers up to there are told apart.
int exact_bits(DType d) {
  switch (d) {
    case DType::bool_:
      return 1;
    case DType::float16:
      return 11;
    case DType::bfloat16:
      return 8;
    case DType::float32:
      return 24;
    case DType::float64:
      return 53;
    default:
      return static_cast<int>(size_of(d)) * 8 - (is_signed(d) ? 1 : 0);
  }
}

/// Every value of `from` is one of `to`.
bool loses_nothing(DType from, DType to) {
  if (from == to) return true;
  if (to == DType::bool_ || !(kReal | kBool).contains(from) || !kReal.contains(to)) return false;
  if (is_floating(from)) {
    if (to == DType::float64) return true;
    return to == DType::float32 && from != DType::float64;
  }
  if (is_signed(from) && !is_signed(to) && !is_floating(to)) return false;
  return exact_bits(from) <= exact_bits(to);
}

/// Whether a cast of `middle`, which holds all of `from`, gives what a cast of `from` does. An
/// integer that does not fit is cut off; a float that does not fit is not.
bool may_skip(DType from, DType middle, DType to) {
  if (is_floating(to) || to == DType::bool_ || is_floating(from)) return true;
  return !is_floating(middle) || loses_nothing(from, to);
}

}  // namespace

std::shared_ptr<graph::Graph> eliminate_casts(const std::shared_ptr<graph::Graph>& graph) {
  Rewriter now(*graph);
  const bool changed = now.replace([&](const graph::Node& node) -> Tensor {
    if (!node.op || node.op->name() != "cast" || !node.before.empty()) return {};
    const Tensor input = now.at(node.inputs[0]);
    const DType to = node.outputs[0].dtype;
    if (input.dtype() == to) return input;
    const graph::Node* before = made_by(input, "cast");
    const DType from = before ? before->inputs[0].dtype() : DType::invalid;
    if (!before || !loses_nothing(from, input.dtype()) || !may_skip(from, input.dtype(), to)) {
      return {};
    }
    const Tensor& source = before->inputs[0];
    return from == to ? source : now.add(*node.op, {source}, node.attrs, node);
  });
  return changed ? now.finish() : graph;
}

}  // namespace tidemark::compile
