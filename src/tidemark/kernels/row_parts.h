// Steps that put together what was computed in parts.
#pragma once

#include "tidemark/graph/specials.h"

namespace tidemark {

/// Puts a part into its rows of the whole, which is the first input; without one, the whole begins
/// here and its other rows hold anything.
class TIDEMARK_API PutRows final : public graph::PureSpecial {
 public:
  PutRows(Shape whole, int64_t first_row) : whole_(std::move(whole)), first_row_(first_row) {}
  std::string_view name() const override { return "put_rows"; }
  std::string describe() const override;
  bool may_write_into(size_t /*output*/, size_t input) const override { return input == 0; }
  /// As a step by itself, without a plan.
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override;

 private:
  bool equals(const graph::Special& other) const override;

  Shape whole_;
  int64_t first_row_;
};

/// Gives its input, in the same memory where nobody else needs that. What comes before it is
/// computed before: nothing is fused across it.
class TIDEMARK_API Hold final : public graph::PureSpecial {
 public:
  std::string_view name() const override { return "hold"; }
  bool may_write_into(size_t, size_t) const override { return true; }
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override;

 private:
  bool equals(const graph::Special& /*other*/) const override { return true; }
};

}  // namespace tidemark
