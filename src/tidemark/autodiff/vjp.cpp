#include "tidemark/autodiff/vjp.h"

namespace tidemark::autodiff {

std::vector<Tensor> vjp(const OpDef& op, std::span<const Tensor> inputs,
                        std::span<const Attr> attrs, std::span<const Tensor> outputs,
                        std::span<const Tensor> dy) {
  if (!op.gradient_rule()) {
    fail<UnimplementedError>("[", op.name(), "] has no gradient: its definition names none");
  }
  std::vector<Tensor> dx(inputs.size());
  const OpCall call{op, inputs, attrs};
  Grad grad(call, outputs, dy, dx);
  op.gradient_rule()(grad);
  return dx;
}

}  // namespace tidemark::autodiff
