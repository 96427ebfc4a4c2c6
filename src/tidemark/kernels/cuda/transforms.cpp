#include "tidemark/kernels/cuda/transforms.h"

namespace tidemark::cuda {

void Transforms::check(int status, const Transform& transform) const {
  if (status == 0) return;
  fail<InternalError>("gpu:", context_.device(), ": cuFFT answers ", library_()->explain(status),
                      " for ", transform.lines, " lines of ", transform.n);
}

size_t Transforms::workspace_of(const Transform& transform) const {
  const Context::Scope scope(context_);
  size_t bytes = 0;
  check(library_()->prepare(context_.handle(), &transform, &bytes), transform);
  return bytes;
}

void Transforms::run(const Transform& transform, const TransformRun& run) const {
  check(library_()->transform(context_.handle(), &transform, &run), transform);
}

}  // namespace tidemark::cuda
