// The specials that every layer above graphs knows: constants, variables, pure computations.
#pragma once

#include <tidemark/variable.h>

#include "tidemark/graph/node.h"

namespace tidemark::graph {

/// Gives its input.
TIDEMARK_API std::shared_ptr<const Special> constant_special();
/// A node that gives a value known when the graph was built.
TIDEMARK_API bool is_constant(const Node& node);

class TIDEMARK_API ReadVariable final : public Special {
 public:
  explicit ReadVariable(Variable variable) : variable_(std::move(variable)) {}
  std::string_view name() const override { return "read_variable"; }
  std::string describe() const override;
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  Effects effects() const override { return {.reads = {&variable_, 1}}; }
  const Variable* shown_variable() const override { return &variable_; }

 private:
  bool equals(const Special& other) const override;

  Variable variable_;
};

class TIDEMARK_API UpdateVariable final : public Special {
 public:
  explicit UpdateVariable(VariableUpdate update) : update_(std::move(update)) {}
  std::string_view name() const override { return "update_variable"; }
  std::string describe() const override;
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  Effects effects() const override { return {.writes = {&update_.variable, 1}, .must_run = true}; }
  bool keeps_inputs() const override { return false; }
  const VariableUpdate* update() const override { return &update_; }

 private:
  bool equals(const Special& other) const override;

  VariableUpdate update_;
};

/// Computes as a kernel does, in memory that is given.
class TIDEMARK_API ComputingSpecial : public Special {
 public:
  bool keeps_inputs() const override { return false; }
  bool computes() const override { return true; }
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override = 0;
};

/// A pure function of its inputs, into outputs that are given, allocating nothing.
class TIDEMARK_API PureSpecial : public ComputingSpecial {
 public:
  Effects effects() const override { return {}; }
};

/// The elements of its input in memory of another device. To the host it waits until they are
/// there.
class TIDEMARK_API CopyToDevice final : public PureSpecial {
 public:
  /// `reader`: the op that the first copy is made for.
  explicit CopyToDevice(Device device, std::string reader = {})
      : device_(device), reader_(std::move(reader)) {}
  std::string_view name() const override { return "copy_to_device"; }
  std::string describe() const override;
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override;

 private:
  bool equals(const Special& other) const override;

  const Device device_;
  const std::string reader_;
};

}  // namespace tidemark::graph
