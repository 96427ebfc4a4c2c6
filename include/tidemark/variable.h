// Variable: a named value that changes, updated in place.
//
//   td::Variable v(td::zeros({3}), {.name = "bias"});
//   v.assign_add(td::ones({3}));       // writes into the variable's own buffer
//   td::Tensor y = v * v;              // used like a tensor
//   td::Tensor before = v.value();     // later updates do not change it
//
// Copies of a Variable share it. Its bytes go when the last copy goes. All members may be called
// from several threads at once.
#pragma once

#include <tidemark/tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tidemark {

class Attr;
class OpDef;

struct VariableOptions {
  std::string name = "Variable";
  /// Tapes watch trainable variables by themselves.
  bool trainable = true;
  /// What values may be assigned; unknown sizes take any. Unset: the initial value's shape.
  std::optional<Shape> shape = std::nullopt;
};

/// While a graph is being built on this thread, reading and updating become steps of it
/// (<tidemark/handler.h>).
class TIDEMARK_API Variable {
 public:
  Variable() = default;
  explicit Variable(const Tensor& initial, VariableOptions options = {});

  explicit operator bool() const noexcept { return state_ != nullptr; }
  const std::string& name() const;
  bool trainable() const;
  DType dtype() const;
  /// As declared: sizes may be unknown.
  const Shape& shape() const;
  /// Tells the variable apart for as long as the process runs.
  uint64_t id() const;
  bool operator==(const Variable& other) const = default;

  /// The value now. Tapes see the reading, so gradients flow back to the variable.
  Tensor value() const;
  /// The value as an operand of ops: it stands for the variable itself wherever a tape meets it.
  Tensor operand() const;
  operator Tensor() const { return operand(); }

  /// Values of the variable's dtype, of a shape it allows. Throw InvalidArgumentError else; the
  /// variable is unchanged then. Nothing is copied where nobody shares the variable's buffer.
  void assign(const Tensor& value);
  void assign_add(const Tensor& delta);
  void assign_sub(const Tensor& delta);
  /// An update by an op: its first input, the variable's value, is written in place where nobody
  /// shares it; `rest` are its other inputs, `attrs` its attributes in order (none: the defaults).
  /// No tape records it.
  void update(std::string_view op, std::span<const Tensor> rest);
  void update(std::string_view op, std::span<const Tensor> rest, std::span<const Attr> attrs);
  /// The same, or with no op: assigns `rest`, a single tensor.
  void apply(const OpDef* op, std::span<const Tensor> rest, std::span<const Attr> attrs);
  /// Calls `change` with the value, which nobody else can read meanwhile, and keeps what it
  /// returns. The variable is unchanged when it throws before it has given up the value.
  void transform(const std::function<Tensor(Tensor&)>& change);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tidemark
