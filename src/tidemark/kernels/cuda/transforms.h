// Fourier transforms on one GPU, by a library that is opened with the first of them.
#pragma once

#include "tidemark/kernels/cuda/context.h"

namespace tidemark::cuda {

class Transforms {
 public:
  /// `library`: answers null where it cannot be had.
  Transforms(const Context& context, const TransformLibrary* (*library)())
      : context_(context), library_(library) {}

  /// Opens the library.
  bool is_there() const { return library_() != nullptr; }
  /// Bytes of workspace. Throws InternalError where the library refuses.
  size_t workspace_of(const Transform& transform) const;
  /// Enqueues. With the context pushed. Throws InternalError where the library refuses.
  void run(const Transform& transform, const TransformRun& run) const;

 private:
  void check(int status, const Transform& transform) const;

  const Context& context_;
  const TransformLibrary* (*library_)();
};

}  // namespace tidemark::cuda
