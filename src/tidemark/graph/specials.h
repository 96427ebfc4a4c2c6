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
  bool is_same(const Special& other) const override;
  const Variable& variable() const { return variable_; }

 private:
  Variable variable_;
};

class TIDEMARK_API UpdateVariable final : public Special {
 public:
  UpdateVariable(Variable variable, std::string op, std::vector<Attr> attrs)
      : variable_(std::move(variable)), op_(std::move(op)), attrs_(std::move(attrs)) {}
  std::string_view name() const override { return "update_variable"; }
  std::string describe() const override;
  bool has_effect() const override { return true; }
  bool keeps_inputs() const override { return false; }
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  bool is_same(const Special& other) const override;
  const Variable& variable() const { return variable_; }
  /// "assign", or the op that gets the value and the inputs.
  const std::string& op() const { return op_; }
  std::span<const Attr> attrs() const { return attrs_; }

 private:
  Variable variable_;
  std::string op_;
  std::vector<Attr> attrs_;
};

/// Computes as a kernel does, in memory that is given. Shapes of inputs and outputs are those of
/// its node.
class TIDEMARK_API ComputingSpecial : public Special {
 public:
  bool keeps_inputs() const override { return false; }
  /// Bytes needed while it computes.
  virtual size_t workspace() const { return 0; }
  virtual void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                       void* workspace) const = 0;
};

/// A pure function of its inputs, into outputs that are given, allocating nothing.
class TIDEMARK_API PureSpecial : public ComputingSpecial {
 public:
  /// Whether the output may take over the bytes of the input where that dies with the call.
  virtual bool may_write_into(size_t /*output*/, size_t /*input*/) const { return false; }
};

/// Changes some variables, reads no others but by its inputs, and has no outputs. Allocates where
/// somebody holds an old value, and nothing else.
class TIDEMARK_API VariableUpdates : public ComputingSpecial {
 public:
  bool has_effect() const override { return true; }
  virtual const std::vector<Variable>& variables() const = 0;
};

}  // namespace tidemark::graph
