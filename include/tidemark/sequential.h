// Sequential and Residual: modules of modules.
//
//   td::nn::Sequential model{td::nn::Conv2D(32, 3, {.activation = "relu"}), td::nn::Flatten(),
//                            td::nn::Dense(10)};
//   td::nn::Residual block{td::nn::LayerNorm(), td::nn::Dense(64)};      // x + dense(norm(x))
//   td::Tensor y = model(x);
//
// Members are modules, also of one's own, or functions of a tensor. They are named by their kind,
// as "dense", "dense_1".
#pragma once

#include <tidemark/module.h>

#include <concepts>
#include <functional>
#include <map>
#include <type_traits>

namespace tidemark::nn {

class TIDEMARK_API Sequential : public Module {
 public:
  template <class... Members>
  requires(std::is_invocable_r_v<Tensor, const Members&, const Tensor&>&&...) explicit Sequential(
      const Members&... members)
      : Module("Sequential") {
    (append(members), ...);
  }

  /// One more at the end.
  template <class Member>
  void append(const Member& member) {
    if constexpr (std::derived_from<Member, Module>) add_numbered(member);
    steps_->push_back(member);
  }
  Tensor operator()(const Tensor& x) const;
  /// How many members it has.
  size_t size() const { return steps_->size(); }

 protected:
  explicit Sequential(std::string kind) : Module(std::move(kind)) {}

 private:
  using Step = std::function<Tensor(const Tensor&)>;
  void add_numbered(const Module& member);

  std::shared_ptr<std::vector<Step>> steps_ = std::make_shared<std::vector<Step>>();
  /// How many members there are of each kind.
  std::shared_ptr<std::map<std::string, int64_t>> kinds_ =
      std::make_shared<std::map<std::string, int64_t>>();
};

/// x + what its members make of x.
class TIDEMARK_API Residual : public Sequential {
 public:
  template <class... Members>
  requires(std::is_invocable_r_v<Tensor, const Members&, const Tensor&>&&...) explicit Residual(
      const Members&... members)
      : Sequential("Residual") {
    (append(members), ...);
  }
  Tensor operator()(const Tensor& x) const;
};

}  // namespace tidemark::nn
