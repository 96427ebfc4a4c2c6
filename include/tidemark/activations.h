// Activations and initializers: by the name that Keras has for them, or a function of one's own.
//
//   td::nn::Dense a(64, {.activation = "gelu", .kernel_initializer = "he_normal"});
//   td::nn::Dense b(64, {.activation = [](const td::Tensor& x) { return td::tanh(x) * 2.f; }});
//   td::Tensor w = td::nn::Initializer("glorot_uniform")({784, 128});
#pragma once

#include <tidemark/tensor.h>

#include <concepts>
#include <functional>
#include <string>

namespace tidemark::nn {

/// A name is looked up when the activation is made: one that is not known throws
/// InvalidArgumentError with those that are.
class TIDEMARK_API Activation {
 public:
  Activation() = default;  // "linear": nothing is done
  Activation(const std::string& name);
  Activation(const char* name) : Activation(std::string(name)) {}
  template <std::invocable<const Tensor&> F>
  Activation(F function) : function_(std::move(function)) {}

  Tensor operator()(const Tensor& x) const { return function_ ? function_(x) : x; }

 private:
  std::function<Tensor(const Tensor&)> function_;
};

/// Draws from the process's generator (td::random::set_seed), the distributions are Keras's.
class TIDEMARK_API Initializer {
 public:
  Initializer(const std::string& name);
  Initializer(const char* name) : Initializer(std::string(name)) {}
  template <std::invocable<const Shape&> F>
  Initializer(F function) : function_(std::move(function)) {}

  Tensor operator()(const Shape& shape) const { return function_(shape); }

 private:
  std::function<Tensor(const Shape&)> function_;
};

/// Every element is `value`.
TIDEMARK_API Initializer constant(double value);

}  // namespace tidemark::nn
