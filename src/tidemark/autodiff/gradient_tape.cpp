#include <tidemark/gradient.h>

#include "tidemark/autodiff/tape.h"
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

Tensor GradientTape::gradient(const Tensor& target, const GradientSource& source) {
  return std::move(gradient(target, std::span<const GradientSource>(&source, 1))[0]);
}

}  // namespace tidemark
