#include "tidemark/kernels/cuda/convolutions.h"

namespace tidemark::cuda {

Convolution Convolutions::as_asked(Convolution convolution) const {
  convolution.rounds = convolution.element == Product::float32 && context_.rounds_float32();
  return convolution;
}

void Convolutions::check(int status, const char* call, const Convolution* convolution) {
  if (status == 0) return;
  std::string of;
  if (const Convolution* c = convolution) {
    of = message(" for ", c->batch, " images of ", c->in[0], " x ", c->in[1], " x ", c->in[2],
                 " with ", c->channels, " channels and windows of ", c->window[0], " x ",
                 c->window[1], " x ", c->window[2]);
  }
  fail<InternalError>("gpu:", context_.device(), ": ", call, " answers ",
                      library_()->explain(status), of);
}

const ConvolutionLibrary& Convolutions::library() {
  const ConvolutionLibrary* found = library_();
  if (!found) {
    fail<FailedPreconditionError>("gpu:", context_.device(),
                                  " has no library for convolutions: install cuDNN");
  }
  std::lock_guard hold(mutex_);
  if (handle_ == 0) {
    Handle made = 0;
    check(found->create(&made), "cudnnCreate");
    handle_ = made;
  }
  return *found;
}

std::optional<size_t> Convolutions::workspace_of(const Convolution& convolution) {
  const Context::Scope scope(context_);
  size_t bytes = 0;
  const Convolution asked = as_asked(convolution);
  if (library().prepare(handle_, &asked, &bytes) != 0) return std::nullopt;
  return bytes;
}

void Convolutions::convolve(const Convolution& convolution, const ConvolutionRun& run) {
  const Convolution asked = as_asked(convolution);
  check(library().convolve(handle_, &asked, &run), "cuDNN", &asked);
}

}  // namespace tidemark::cuda
