// Convolutions on one GPU, by a library that is opened with the first of them.
#pragma once

#include <mutex>
#include <optional>

#include "tidemark/kernels/cuda/context.h"

namespace tidemark::cuda {

class Convolutions {
 public:
  /// `library`: answers null where it cannot be had.
  Convolutions(const Context& context, const ConvolutionLibrary* (*library)())
      : context_(context), library_(library) {}

  /// Opens the library.
  bool is_there() const { return library_() != nullptr; }
  /// Bytes of workspace; none: the library cannot do it. Throws what it refuses otherwise.
  std::optional<size_t> workspace_of(const Convolution& convolution);
  /// Enqueues. With the context pushed. Throws InternalError where the library refuses.
  void convolve(const Convolution& convolution, const ConvolutionRun& run);

 private:
  Convolution as_asked(Convolution convolution) const;
  const ConvolutionLibrary& library();
  void check(int status, const char* call, const Convolution* convolution = nullptr);

  const Context& context_;
  const ConvolutionLibrary* (*library_)();
  std::mutex mutex_;
  Handle handle_ = 0;  // made with the first convolution
};

}  // namespace tidemark::cuda
