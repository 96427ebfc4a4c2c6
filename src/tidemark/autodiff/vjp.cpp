#include "tidemark/autodiff/vjp.h"

#include "tidemark/autodiff/keep.h"

namespace tidemark::autodiff {

std::vector<Tensor> vjp(const OpDef& op, std::span<const Tensor> inputs,
                        std::span<const Attr> attrs, std::span<const Tensor> outputs,
                        std::span<const Tensor> dy) {
  if (!op.gradient_rule()) {
    fail<UnimplementedError>("[", op.name(), "] has no gradient: its definition names none");
  }
  // As a tape would have it: the definition sees no elements but of what it asked to keep.
  const Keep keep = op.gradient_keeps();
  std::vector<Tensor> kept_inputs, kept_outputs;
  for (size_t i = 0; i < inputs.size(); ++i) kept_inputs.push_back(kept(inputs[i], keep.x, i));
  for (size_t i = 0; i < outputs.size(); ++i) kept_outputs.push_back(kept(outputs[i], keep.y, i));
  std::vector<Tensor> dx(inputs.size());
  const OpCall call{op, kept_inputs, attrs};
  std::vector<Tensor> own(dy.begin(), dy.end());
  Grad grad(call, kept_outputs, own, dx);
  op.gradient_rule()(grad);
  return dx;
}

}  // namespace tidemark::autodiff
