// ForwardAccumulator: carries directional derivatives along with the values.
#pragma once

#include "tidemark/autodiff/tape.h"

namespace tidemark::autodiff {

/// One thread at a time. A step's derivative is the gradient of its own gradient, which is linear:
/// no op needs a second definition.
class TIDEMARK_API ForwardAccumulator final : public Handler {
 public:
  /// From now on the tensor with this id moves in the direction `tangent`.
  void watch_id(uint64_t id, const Tensor& tangent);
  void handle(const OpCall& call, std::span<Tensor> outputs) override;
  bool record(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
              const std::shared_ptr<CustomBackward>& backward) override;
  /// How the tensor moves; empty: not at all.
  Tensor tangent_of(uint64_t id) const;

 private:
  bool is_moving(std::span<const Tensor> inputs) const;
  void push_forward(const Tape::Entry& entry, std::span<const Tensor> tangents,
                    std::span<const Tensor> outputs);
  std::vector<Tensor> tangents_of(std::span<const Tensor> inputs) const;

  IdMap ids_;
  std::vector<Tensor> tangents_;
};

}  // namespace tidemark::autodiff
