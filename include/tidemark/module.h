// Module: what has weights, each under a name. A handle, as a tensor is: copies share the weights.
//
//   struct Perceptron : td::nn::Module {
//     td::nn::Dense hidden = add("hidden", td::nn::Dense(128, {.activation = "relu"}));
//     td::nn::Dense out = add("out", td::nn::Dense(10));
//     td::Tensor operator()(const td::Tensor& x) const { return out(hidden(x)); }
//   };
//   Perceptron model;
//   td::Tensor y = model(td::zeros({1, 784}));    // makes the weights, for inputs of this size
//   model.named_variables()[0].name;              // "hidden.kernel"
//   std::cout << model;                           // a table: weights, shapes, bytes
//
// A layer makes its weights when it is first called, when it learns the size of its input.
#pragma once

#include <tidemark/variable.h>

#include <concepts>
#include <iosfwd>
#include <string>
#include <vector>

namespace tidemark::nn {

struct NamedVariable {
  std::string name;  // "encoder.dense.kernel"
  Variable variable;
};

class TIDEMARK_API Module {
 public:
  /// What is trained, members in the order in which they were added. Throws FailedPreconditionError
  /// where a layer has not been called yet and so has no weights.
  std::vector<Variable> parameters() const;
  /// All weights, also those that are not trained (moving averages).
  std::vector<NamedVariable> named_variables() const;
  /// The weight of that name; throws NotFoundError with the names there are.
  Variable variable(std::string_view name) const;

  /// Modules begin in training: dropout drops, batch normalisation uses the batch. For it and all
  /// its members. A function traced before goes on as it was traced.
  void train(bool on = true) const;
  void eval() const { train(false); }
  bool is_training() const;

  /// "Dense".
  const std::string& kind() const;
  /// One line a weight with its shape, dtype and bytes, and their sums.
  std::string to_string() const;

  /// Whether they are the same module.
  bool operator==(const Module& other) const = default;

 protected:
  explicit Module(std::string kind = "Module");

  /// Makes the module a member under this name, for `M x = add("x", M(…));`. Throws
  /// InvalidArgumentError where the name is taken.
  template <std::derived_from<Module> M>
  M add(std::string name, M member) const {
    add_member(std::move(name), member);
    return member;
  }
  /// The same with a weight.
  Variable add(std::string name, const Tensor& initial, bool trainable = true) const;

  /// For layers that learn their sizes from the first input: calls `make`, which adds the weights,
  /// once, on one thread, outside of any tape or trace.
  template <class Make>
  void build_once(Make&& make) const {
    if (!is_built()) build([](void* made_by) { (*static_cast<Make*>(made_by))(); }, &make);
  }
  /// Says that there are weights to come, so that asking for them too early is an error.
  void will_build() const;
  /// The weights of this module alone, in the order in which they were added.
  const Variable& weight(size_t i) const;

 private:
  friend class EvalScope;
  struct State;
  void add_member(std::string name, const Module& member) const;
  bool is_built() const;
  void build(void (*make)(void*), void* made_by) const;
  static void collect_variables(const Module& from, const std::string& before,
                                std::vector<NamedVariable>& out);
  static void collect_training(const Module& from, std::vector<Module>& out);

  std::shared_ptr<State> state_;
};

TIDEMARK_API std::ostream& operator<<(std::ostream& out, const Module& module);

/// A module and its members are in evaluation until the end of the scope; then each trains again
/// that did before.
class TIDEMARK_API EvalScope {
 public:
  explicit EvalScope(const Module& module);
  ~EvalScope();
  EvalScope(const EvalScope&) = delete;
  EvalScope& operator=(const EvalScope&) = delete;

 private:
  std::vector<Module> training_;
};

}  // namespace tidemark::nn
