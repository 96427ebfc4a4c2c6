// Gradients of what was computed while a tape was alive.
//
//   td::Variable w(td::ones({3}));
//   td::Tensor x = td::Tensor::of({1.f, 2.f, 3.f});
//   td::GradientTape tape;
//   tape.watch(x);                                    // variables are watched by themselves
//   td::Tensor loss = td::sum(w * x * x);
//   auto [dw, dx] = tape.gradient<2>(loss, {w, x});   // x * x and 2 * w * x
//   w.assign_sub(dw * 0.1f);
//
// A tape keeps what the gradients need and no more, and releases it on the way back.
#pragma once

#include <tidemark/tensor.h>
#include <tidemark/variable.h>

#include <array>
#include <concepts>
#include <memory>
#include <vector>

namespace tidemark {

/// What to differentiate by: a tensor or a variable.
class TIDEMARK_API GradientSource {
 public:
  GradientSource(const Tensor& t);
  GradientSource(const Variable& v) : id_(v.id()) {}
  uint64_t id() const { return id_; }
  /// Empty: a variable.
  const Tensor& tensor() const { return tensor_; }

 private:
  uint64_t id_;
  Tensor tensor_;
};

struct GradientTapeOptions {
  /// True: gradient() may be called several times; what was recorded stays until the tape goes.
  bool persistent = false;
  bool watch_accessed_variables = true;
};

/// Records this thread's ops from its construction to stop(), the first gradient() (unless
/// persistent) or its end.
class TIDEMARK_API GradientTape {
 public:
  explicit GradientTape(GradientTapeOptions options = {});
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  void watch(const GradientSource& source);
  void stop();
  /// The gradients of the sum of the target's elements, one each source; an empty handle where the
  /// target does not depend on it.
  std::vector<Tensor> gradient(const Tensor& target, std::span<const GradientSource> sources);
  Tensor gradient(const Tensor& target, const GradientSource& source);
  /// The same by variables: tape.gradient(loss, model.parameters()).
  /// Not inlined, so that the return address is a place in the caller's code.
  template <std::same_as<Variable> V>
  [[gnu::noinline]] std::vector<Tensor> gradient(const Tensor& target,
                                                 const std::vector<V>& sources) {
    return gradient_by(target, sources, __builtin_return_address(0));
  }
  template <int N>
  std::array<Tensor, N> gradient(const Tensor& target, const GradientSource (&sources)[N]) {
    std::vector<Tensor> found = gradient(target, std::span<const GradientSource>(sources));
    std::array<Tensor, N> out;
    for (int i = 0; i < N; ++i) out[i] = std::move(found[i]);
    return out;
  }

 private:
  struct State;
  std::vector<Tensor> gradient_by(const Tensor& target, std::span<const Variable> sources,
                                  const void* caller);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark
