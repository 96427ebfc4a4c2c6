#include <tidemark/gradient.h>

#include "tidemark/autodiff/tape.h"
#include "tidemark/memory/context.h"
#include "tidemark/tensor/storage.h"

namespace tidemark {

struct GradientTape::State {
  autodiff::Tape tape;
  bool is_on_stack = true;
};

GradientSource::GradientSource(const Tensor& t) : id_(id_of(t)), tensor_(t) {}

GradientTape::GradientTape(GradientTapeOptions options)
    : state_(new State{autodiff::Tape({options.persistent, options.watch_accessed_variables})}) {
  push_handler(state_->tape);
}

GradientTape::~GradientTape() { stop(); }

void GradientTape::watch(const GradientSource& source) { state_->tape.watch_id(source.id()); }

void GradientTape::stop() {
  if (!std::exchange(state_->is_on_stack, false)) return;
  remove_handler(state_->tape);
}

std::vector<Tensor> GradientTape::gradient(const Tensor& target,
                                           std::span<const GradientSource> sources) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  if (!state_->tape.is_persistent()) stop();
  std::vector<uint64_t> ids;
  std::vector<Tensor> tensors;
  for (const GradientSource& source : sources) {
    ids.push_back(source.id());
    tensors.push_back(source.tensor());
  }
  auto adjoints = state_->tape.gradient(Borrowed<1>(target).span(), ids, {}, tensors);
  std::vector<Tensor> out;
  for (autodiff::Adjoint& adjoint : adjoints) {
    out.push_back(adjoint ? dense(std::move(adjoint)) : Tensor());
  }
  return out;
}

std::vector<Tensor> GradientTape::gradient_by(const Tensor& target,
                                              std::span<const Variable> sources,
                                              const void* caller) {
  const memory::ScopedSite here(memory::site_of_address(caller));
  return gradient(target, std::vector<GradientSource>(sources.begin(), sources.end()));
}

Tensor GradientTape::gradient(const Tensor& target, const GradientSource& source) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return std::move(gradient(target, std::span<const GradientSource>(&source, 1))[0]);
}

}  // namespace tidemark
